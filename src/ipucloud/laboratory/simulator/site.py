"""The whole site: hardware, controllers, machines, networks and hosts over one folder of state."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ipucloud.laboratory.simulator.addresses import Addresses
from ipucloud.laboratory.simulator.cables import Cables
from ipucloud.laboratory.simulator.clock import Clock
from ipucloud.laboratory.simulator.copying import Copier
from ipucloud.laboratory.simulator.disks import Disks
from ipucloud.laboratory.simulator.durations import Durations
from ipucloud.laboratory.simulator.events import Events
from ipucloud.laboratory.simulator.faults import FaultBook
from ipucloud.laboratory.simulator.hardware import Machine, Region, build_regions
from ipucloud.laboratory.simulator.host_servers import HostServers
from ipucloud.laboratory.simulator.host_states import HostStates
from ipucloud.laboratory.simulator.hosts import Hosts
from ipucloud.laboratory.simulator.identities import Identities
from ipucloud.laboratory.simulator.images.store import Images
from ipucloud.laboratory.simulator.machines import Machines
from ipucloud.laboratory.simulator.networks import Networks
from ipucloud.laboratory.simulator.refusal import not_found, precondition
from ipucloud.laboratory.simulator.sandbox.plan import WAY_IN
from ipucloud.laboratory.simulator.settings import Settings
from ipucloud.laboratory.simulator.snapshots import Snapshots, Sources
from ipucloud.laboratory.simulator.sources import allows
from ipucloud.laboratory.simulator.ssh.attachments import Attachments, Load
from ipucloud.laboratory.simulator.ssh.confinement import Confinement
from ipucloud.laboratory.simulator.ssh.fabric import Fabric
from ipucloud.laboratory.simulator.ssh.server_host import ServerHost
from ipucloud.laboratory.simulator.ssh.userland import may_change_users
from ipucloud.laboratory.simulator.state import open_state
from ipucloud.laboratory.simulator.tls import Authority
from ipucloud.laboratory.simulator.vipu.attributes import machine_health
from ipucloud.laboratory.simulator.vipu.controller import Controller
from ipucloud.laboratory.simulator.volumes import Volumes
from ipucloud.vipu_cli.controller import Channels
from ipucloud.wire.faults import HardwareShown
from ipucloud.wire.inventory import Inventory, LinkKind, LinkState, SiteRegion, VipuController, VipuEndpoint
from ipucloud.wire.site import ServerSpec
from ipucloud.wire.storage import VolumeSpec

_FIXED = ("pod_size", "pods_per_controller")
_SIZES = ("machines", "hosts", "servers", *_FIXED)


class SizeMismatch(Exception):
    """The folder's state is that of a larger or differently built site."""


@dataclass(frozen=True)
class BeyondFaults:
    """The site as its experimenter's routes see it: durable, but never hit by the faults that they set."""

    site: Site
    faults: FaultBook

    async def settled(self) -> None:
        await self.site.settled()


class Site:
    """Builds and connects the parts. Nothing here listens; `process` does."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self.settings = settings
        self.events = Events()
        self.faults = FaultBook(settings.seed, clock=clock, time_scale=settings.time_scale, hardware=self)
        self.regions = build_regions(settings)
        self.state, self.document = open_state(settings.data / "site.json", fsync=settings.fsync)
        self._check_size()
        self.channels = Channels()
        self._durations = Durations(settings.time_scale)
        self.confinement = Confinement(settings.wall, unconfined=settings.unconfined, servers=settings.data / "hosts")
        self.images = Images(
            settings.data / "images",
            settings.disk_mib * 1024 * 1024,
            open_registries=settings.insecure_registries,
            use_engine=settings.use_engine,
        )
        self.attachments = Attachments()
        everything = {name: m for region in self.regions.values() for name, m in region.machines.items()}
        touch = self.document.touch
        self.identities = Identities(self.regions, self.state.shown, changed=touch)
        self.machines = Machines(
            everything,
            self.state.machines,
            initial="On" if settings.machines_on else "Off",
            clock=clock,
            durations=self._durations,
            changed=touch,
            host_is_on=self._host_is_on,
            identities=self.identities,
            is_busy=lambda ipu: self.attachments.holder(ipu) is not None,
            worst_link=lambda name: machine_health(everything[name], True, self.cables.broken).links,
        )
        self.cables = Cables(self.regions, self.state.links, changed=touch)
        self.networks = Networks(
            self.regions, self.state.networks, clock=clock, durations=self._durations, changed=touch
        )
        # What programs move to where it was not copied yet is copied twice; a disk cannot hold more.
        copier = Copier(2 * settings.disk_mib * 1024 * 1024)
        self.volumes = Volumes(
            frozenset(self.regions),
            self.state.volumes,
            folder=settings.data / "volumes",
            hosts_folder=settings.data / "hosts",
            document=self.document,
            copier=copier,
            snapshot=self._snapshot_folder,
            deleted=self._volume_deleted,
        )
        self.addresses = Addresses(
            frozenset(self.regions),
            self.state.addresses,
            network=settings.addresses,
            port=settings.address_port,
            target=settings.own_address,
            document=self.document,
        )
        self.host_states = HostStates(
            self.regions,
            self.state.hosts,
            folder=settings.data / "hosts",
            clock=clock,
            durations=self._durations,
            document=self.document,
            network_of=self.networks.network_of,
            server_host=self._server_host,
            addresses=self.addresses,
            disks=Disks(
                settings.data / "hosts",
                snapshots=settings.data / "snapshots",
                copier=copier,
                document=self.document,
                clock=clock,
            ),
        )
        self.hosts = Hosts(
            self.regions,
            self.host_states,
            identities=self.identities,
            leave=self.volumes.leave,
            snapshot=self._snapshot_of,
            copies_end=self._copies_end,
        )
        self.host_servers = HostServers(self.host_states)
        self.snapshots = Snapshots(
            self.state.snapshots,
            folder=settings.data / "snapshots",
            clock=clock,
            durations=self._durations,
            document=self.document,
            copier=copier,
            sources=Sources(self.volumes, self.host_servers),
        )
        controlled = {name: part for r in self.regions.values() for name, part in r.controlled.items()}
        self.controllers = {name: self._controller(name, part, clock) for name, part in controlled.items()}
        self.authorities = {} if settings.plaintext else {name: self._authority(name) for name in self.controllers}
        self._controller_of = {machine: name for name, part in controlled.items() for machine in part.machines}
        for name in self.state.machines:
            # A kill may have come between the files of the machine and of its controller.
            self._lost(name)

    async def settled(self) -> None:
        """Return when everything that was changed so far is on disk."""
        await self.document.settled()
        await asyncio.gather(*(controller.document.settled() for controller in self.controllers.values()))

    def beyond_faults(self) -> BeyondFaults:
        """The site for routes that fault rules must not reach."""
        return BeyondFaults(self, FaultBook(self.settings.seed))

    def machines_of(self, region: str | None) -> list[str]:
        """The names of all machines of the region, or of the site, in the order of the hardware."""
        regions = [each for slug, each in self.regions.items() if region in {None, slug}]
        if not regions:
            raise not_found(f"region {region!r} does not exist")
        return [name for each in regions for name in each.machines] + self.identities.surplus(region)

    def inventory(self, *, containers: bool = False) -> Inventory:
        """All hardware, and where its controllers listen. `containers`: whether servers run container images."""
        return Inventory(
            regions=[
                SiteRegion(
                    region=slug,
                    vipu=self._vipu_endpoint(slug) if slug in self.controllers else None,
                    controllers=[
                        VipuController(name=name, **dict(self._vipu_endpoint(name)))
                        for name in region.controlled
                        if name != slug
                    ],
                    pods=list(region.pods),
                    hosts=list(region.hosts),
                    typical_seconds=self._durations.typical_seconds(),
                    simulated=True,
                    containers=containers,
                )
                for slug, region in self.regions.items()
            ]
        )

    def _vipu_endpoint(self, name: str) -> VipuEndpoint:
        return VipuEndpoint(
            host=self.settings.advertised_address,
            admin_port=self.state.ports[f"vipu.{name}.admin"],
            secure=self.settings.secure,
            authority=self.authorities[name].certificate if name in self.authorities else None,
            cluster_test=self.settings.cluster_test,
        )

    def _snapshot_folder(self, spec: VolumeSpec) -> Path:
        return self.snapshots.source(spec)

    def _snapshot_of(self, spec: ServerSpec, region: str) -> str | None:
        return self.snapshots.image(spec, region)

    def _copies_end(self, host: str) -> None:
        self.snapshots.server_gone(host)

    def _volume_deleted(self, name: str) -> None:
        self.snapshots.volume_deleted(name)

    def _host_is_on(self, name: str) -> bool:
        return self.hosts.is_on(name)

    def reset_machine(self, name: str, reset_type: str, network: str | None = None) -> None:
        """Change a machine's power, for the tenant of `network` if one is named; partitions on it fail with it."""
        if network is not None and self.networks.network_of(name) not in {None, network}:
            raise precondition(f"machine {name!r} is in the network of another tenant than {network!r}")
        self.machines.reset(name, reset_type)
        self._lost(name)

    def show(self, name: str, shown: HardwareShown) -> HardwareShown:
        """Let a machine or host show something else of itself; partitions on a machine that is hidden fail."""
        kept = self.identities.put(name, shown)
        if shown.hidden and name in self.state.machines:
            self._lost(name)
        return kept

    def fail_machine(self, name: str) -> None:
        """Break a machine; partitions on it fail."""
        self.machines.fail(name)
        self._lost(name)

    def repair_machine(self, name: str) -> None:
        """Repair a machine."""
        self.machines.repair(name)

    def forget(self, name: str) -> None:
        """Let a V-IPU controller lose its whole state."""
        controller = self.controllers.get(name)
        if controller is None:
            raise not_found(f"there is no V-IPU controller {name!r}")
        controller.forget()

    def rotate_certificates(self, name: str) -> None:
        """Give a controller's listeners and the control plane new certificates, from the next connection on."""
        self._authority_of(name).rotate()

    def replace_authority(self, name: str) -> None:
        """Give a controller a new certificate authority, which who trusts the one before trusts, too."""
        self._authority_of(name).replace()

    def _authority_of(self, name: str) -> Authority:
        if name not in self.authorities:
            raise not_found(f"there is no V-IPU controller {name!r} with certificates")
        return self.authorities[name]

    def _authority(self, name: str) -> Authority:
        settings = self.settings
        return Authority(settings.data / "authorities", name, settings.client_certificates, fsync=settings.fsync)

    def check_link(self, machine: str, kind: LinkKind) -> None:
        """Refuse a machine or link that does not exist."""
        self.cables.ends(self.machines.get(machine), kind)

    def fail_link(self, machine: str, kind: LinkKind, state: LinkState) -> None:
        """Break a link; when nothing passes any more, partitions across it fail."""
        for end in self.cables.fail(self._cabled(machine), kind, state):
            self.controllers[self._controller_of[end.name]].hardware_changed([end.name])

    def repair_link(self, machine: str, kind: LinkKind) -> None:
        """Repair a link."""
        self.cables.repair(self._cabled(machine), kind)

    def _cabled(self, name: str) -> Machine:
        machine = self.machines.get(name)
        if name not in self._controller_of:
            raise not_found(f"server {name!r} has no links outside of itself")
        return machine

    def _check_size(self) -> None:
        """A site may grow between two starts; it may not lose hardware that its state speaks of."""
        size = {name: getattr(self.settings, name) for name in _SIZES}
        size["regions"] = len(self.regions)
        for what, before in self.state.size.items():
            if size[what] < before or (what in _FIXED and size[what] != before):
                raise SizeMismatch(f"the site in {self.settings.data} has {what} {before}, not {size[what]}")
        self.state.size = size
        self.document.touch()

    def _lost(self, name: str) -> None:
        controller = self._controller_of.get(name)
        if controller is not None and not self.machines.reachable(name):
            self.controllers[controller].hardware_changed([name])

    def _agent_answers(self, machine: str) -> bool:
        return self.machines.reachable(machine) and not self.faults.silence("agents.answer", machine)

    def _controller(self, name: str, part: Region, clock: Clock) -> Controller:
        return Controller(
            part,
            self.settings.data / f"vipu-{name}.json",
            clock=clock,
            durations=self._durations,
            reachable=self._agent_answers,
            broken=self.cables.broken,
            place_of=self.identities.place_of,
            secure=self.settings.secure,
            administrator=self.settings.administrator,
            version=dict(self.settings.versions).get(name, self.settings.vipu_version),
            tests_clusters=self.settings.cluster_test,
            fsync=self.settings.fsync,
        )

    def _server_host(self, host: str, region: str) -> ServerHost:
        authorities = [self.authorities[name] for name in self.regions[region].controlled if name in self.authorities]
        fabric = Fabric(
            self.channels,
            partial(self._endpoints_beside, host) if self.regions[region].under_vipu else None,
            authority=lambda: "".join(each.certificate for each in authorities).encode() or None,
            machine_at=lambda rnic: self.networks.machine_at(host, region, rnic),
            server=self.regions[region].server_on(host),
            server_works=lambda: self.machines.reachable(host),
            readings=self.machines.readings,
            load=Load(self.attachments, host),
        )
        return ServerHost(
            self.settings.bind,
            self.settings.advertised_address,
            fabric,
            self.settings.disk_mib * 1024 * 1024,
            answers=lambda: not self.faults.silence("ssh.connect", host),
            confinement=self.confinement,
            images=self.images,
            client_of=self.addresses.client_of,
            is_control_plane=partial(allows, self.settings.control_plane),
            ports=self.settings.ports,
            volumes=partial(self.volumes.on, host),
        )

    def _endpoints_beside(self, host: str) -> frozenset[str]:
        """The addresses of the endpoints of the machines' allocations in a host's network."""
        addresses = set()
        for machine in self.networks.machines_beside(host):
            controller = self.controllers[self._controller_of[machine]]
            if owner := controller.allocations.owner_of(machine):
                addresses.add(f"{controller.endpoints.host}:{controller.endpoints.port(owner)}")
        return frozenset(addresses)


def prepare_folder(data: Path) -> None:
    """Make the site's folder, closed to everyone else on this machine."""
    data.mkdir(parents=True, exist_ok=True)
    if may_change_users():
        os.chown(data, -1, WAY_IN)  # servers have users of their own, who have to get to their disks
        data.chmod(0o710)
    else:
        data.chmod(0o700)
    (data / "hosts").mkdir(exist_ok=True)
