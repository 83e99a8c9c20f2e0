"""Hosts: deploy → boot → running, power, wipe → clean. A running host has a real SSH server behind it.

    clean → deploying → booting → running ⇄ off
    any state with a server that has not failed → deploying, when it is rebuilt
    any state with a server → wiping → clean

A transition ends at the record's `due`: by a timer, or earlier by the first caller after it.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from ipucloud.laboratory.simulator.addresses import Addresses
from ipucloud.laboratory.simulator.clock import Clock
from ipucloud.laboratory.simulator.copying import Folder
from ipucloud.laboratory.simulator.disks import Disks
from ipucloud.laboratory.simulator.durations import Action, Durations
from ipucloud.laboratory.simulator.hardware import Region, ServerPlan
from ipucloud.laboratory.simulator.identities import Identities
from ipucloud.laboratory.simulator.refusal import exists, invalid, not_found, precondition
from ipucloud.laboratory.simulator.ssh.authorized_keys import parse_keys
from ipucloud.laboratory.simulator.ssh.console import Console, Consoles
from ipucloud.laboratory.simulator.ssh.jobs import Jobs
from ipucloud.laboratory.simulator.ssh.server import PoplarServer, Surroundings, check_spec
from ipucloud.laboratory.simulator.state import HostRecord
from ipucloud.laboratory.simulator.store import Document
from ipucloud.laboratory.simulator.wiping import wipe
from ipucloud.wire.addresses import AddressServer
from ipucloud.wire.site import (
    Host,
    HostState,
    LoginKey,
    PowerAction,
    ServerKeys,
    ServerPreemption,
    ServerRebuild,
    ServerS3,
    ServerSpec,
)
from ipucloud.wire.snapshots import SnapshotServer
from ipucloud.wire.volumes import VolumeServer

_FAREWELLS = {"off": "Power down", "reboot": "Restarting system"}
NetworkOf = Callable[[str], str | None]
_SWITCHED = frozenset({HostState.RUNNING, HostState.BOOTING, HostState.OFF})
"""The states in which a host can be switched, and its disk be copied."""
SnapshotOf = Callable[[ServerSpec, str], str | None]
"""The snapshot that a server of this region is to be made from, if its image is one; refuses one that cannot be."""


class Hosts:
    """Every host of the site. Only hosts that carry a server, or failed, have a record; all others are clean."""

    def __init__(
        self,
        regions: dict[str, Region],
        records: dict[str, HostRecord],
        *,
        folder: Path,
        clock: Clock,
        durations: Durations,
        document: Document,
        network_of: NetworkOf,
        surroundings: Callable[[str, str], Surroundings],
        identities: Identities,
        leave: Callable[[str], None],
        addresses: Addresses,
        disks: Disks,
        snapshot: SnapshotOf,
        copies_end: Callable[[str], None],
    ) -> None:
        self._regions = regions
        self._region_of = {host.name: slug for slug, region in regions.items() for host in region.hosts}
        self._records = records
        self._folder = folder
        self._clock = clock
        self._durations = durations
        self._document = document
        self._network_of = network_of
        self._surroundings = surroundings
        self._identities = identities
        self._leave = leave
        self._addresses = addresses
        self._disks = disks
        self._snapshot = snapshot
        self._copies_end = copies_end
        self._servers: dict[str, PoplarServer] = {}
        self._consoles = Consoles(folder.parent / "consoles", clock.now)
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Take up where the last process stopped: the same servers on the same ports with the same keys.

        Nobody may call before this returns, and no transition happens until every server runs again.
        """
        for name, record in self._records.items():
            if record.state is HostState.RUNNING:
                await self._open(name, record)
        for name in self._records:
            self._schedule(name)

    async def close(self) -> None:
        """Stop every server; nothing about the hosts changes."""
        await self._disks.close()
        for timer in self._timers.values():
            timer.cancel()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(server.stop() for server in self._servers.values()))
        self._servers.clear()

    def check(self, name: str) -> None:
        """Refuse the name of a host that does not exist."""
        if name not in self._region_of:
            raise not_found(f"host {name!r} does not exist")

    def names(self, region: str | None) -> list[str]:
        """Every host (of one region, when it is named) that is not hidden."""
        found = (name for name, slug in self._region_of.items() if region in {None, slug})
        return [name for name in found if not self._identities.is_hidden(name)]

    def is_on(self, name: str) -> bool:
        """Whether the host is switched on: it takes power from the writing of an image to the end of its wipe."""
        record = self._records.get(name)
        return record is not None and record.state not in {HostState.OFF, HostState.FAILED}

    async def observe(self, name: str, *, count: bool = True) -> Host:
        """The host as it stands. With `count` its server counts its IPUs now, as `gc-info` would."""
        self.check(name)
        await self._advance(name)
        record = self._records.get(name)
        region = self._region_of[name]
        shown = self._identities.of_host(name, self._regions[region].server_on(name))
        itself = {"serial_number": shown.serial_number, "model": shown.model, "firmware": shown.firmware}
        if record is None:
            return Host(name=name, region=region, state=HostState.CLEAN, **itself)
        server = self._servers.get(name)
        if server is not None and count and record.set_up_at <= self._clock.now():
            await server.count_ipus()
        return Host(
            name=name,
            region=region,
            state=record.state,
            server=record.server,
            ssh=server.ssh if server else None,
            ipus_visible=server.ipus_visible if server else None,
            boot_id=record.boot_id if record.server else None,
            cloud_init=server.cloud_init if server else None,
            sessions=server.uses.sessions if server else None,
            attached_ipus=server.uses.attached_ipus if server else None,
            idle_seconds=server.uses.idle_seconds if server else None,
            **(server.load() if server else {}),
            s3=record.s3_seen,
            preemption=record.preemption_seen,
            console_bytes=self._consoles.of(name).written if record.server else None,
            detail=server.detail if server else "the host failed" if record.broken else None,
            **itself,
        )

    async def put_server(self, name: str, spec: ServerSpec) -> None:
        """Start deploying a server on a clean host; a repeat of the same spec changes nothing."""
        self.check(name)
        check_spec(spec)
        self._check_ipus(name, spec)
        await self._advance(name)
        async with self._locks[name]:
            record = self._records.get(name)
            if record is not None:
                self._check_repeat(name, record, spec)
                return
            if self._network_of(name) != spec.network:
                raise precondition(f"host {name!r} is not in network {spec.network!r}")
            snapshot = self._snapshot(spec, self._region_of[name])
            record = HostRecord(HostState.DEPLOYING, spec, snapshot=snapshot)
            self._records[name] = record
            self._due(name, record, Action.HOST_DEPLOY)

    async def delete_server(self, name: str, server_name: str | None) -> None:
        """Start wiping: the SSH server is gone at once, its data before the host is clean."""
        self.check(name)
        await self._advance(name)
        async with self._locks[name]:
            record = self._records.get(name)
            if record is None or record.server is None or server_name not in {None, record.server.name}:
                raise not_found(f"server {server_name!r} is not on host {name!r}")
            if record.state is HostState.WIPING:
                return
            await self._shut(name)
            self._leave(name)
            await self._addresses.leave(name)
            self._copies_end(name)
            record.state = HostState.WIPING
            self._due(name, record, Action.HOST_WIPE)

    async def power(self, name: str, wanted: PowerAction) -> None:
        """Start a power action on a host with a server. The disk and the host key stay."""
        self.check(name)
        await self._advance(name)
        async with self._locks[name]:
            record = self._records.get(name)
            if record is None or record.server is None or record.state not in _SWITCHED:
                state = HostState.CLEAN if record is None else record.state
                raise precondition(f"host {name!r} is {state}: only a deployed host has power actions")
            self._check_tenant(name, record.server, wanted)
            if wanted.boot_id not in {None, record.boot_id}:
                raise precondition(f"host {name!r} has started again since boot {wanted.boot_id}")
            spec = _moved(record.server, wanted)
            if wanted.action == "on" and record.state is not HostState.OFF and spec.network == record.server.network:
                return
            await self._shut(name, _FAREWELLS.get(wanted.action))
            record.server = spec
            if wanted.action == "off":
                record.state, record.due, record.preemption = HostState.OFF, None, None
                self._document.touch()
            else:
                record.boot()
                self._due(name, record, Action.HOST_BOOT)

    def _check_tenant(self, name: str, server: ServerSpec, wanted: PowerAction) -> None:
        """A host's name says nothing of whose it is: what an action names must be so."""
        if wanted.server not in {None, server.name}:
            raise precondition(f"host {name!r} carries another server than {wanted.server!r}")
        network = self._network_of(name)
        if wanted.network is not None and network != wanted.network and (network or wanted.action == "on"):
            raise precondition(f"host {name!r} is not in network {wanted.network!r}")

    async def put_keys(self, name: str, wanted: ServerKeys) -> None:
        """Exchange the keys of a server, which may be off; a running one lets them in from now on."""
        self.check(name)
        parse_keys(wanted.ssh_authorized_keys)
        await self._advance(name)
        async with self._locks[name]:
            record = self._records.get(name)
            if record is None or record.server is None or record.state is HostState.WIPING:
                raise precondition(f"host {name!r} carries no server that could have keys")
            self._check_owner(name, record.server, wanted.server, wanted.network)
            spec = record.server.model_copy(
                update={"ssh_authorized_keys": wanted.ssh_authorized_keys, "keys_revision": wanted.revision}
            )
            if spec == record.server:
                return
            if wanted.revision <= record.server.keys_revision:
                raise precondition(f"server {wanted.server!r} has revision {record.server.keys_revision} of its keys")
            record.server = spec
            self._document.touch()
            if name in self._servers:
                self._servers[name].exchange_keys(spec)

    async def put_login_key(self, name: str, key: str, wanted: LoginKey) -> None:
        """Let a key in to a server that runs, for a while."""
        self.check(name)
        if parse_keys([wanted.public_key]).authorities is not None:
            raise invalid("an authority is not let in for a while")
        await self._advance(name)
        async with self._locks[name]:
            record = self._records.get(name)
            if record is None or record.server is None or name not in self._servers:
                raise precondition(f"host {name!r} carries no server that runs")
            self._check_owner(name, record.server, wanted.server, wanted.network)
            self._servers[name].login_keys.put(key, wanted.public_key, wanted.seconds)

    async def put_s3(self, name: str, wanted: ServerS3) -> None:
        """Exchange the buckets that a server has access to; one that is off has them from its next start on."""
        self.check(name)
        await self._advance(name)
        async with self._locks[name]:
            record = self._records.get(name)
            if record is None or record.server is None or record.state is HostState.WIPING:
                raise precondition(f"host {name!r} carries no server that could have S3 connections")
            self._check_owner(name, record.server, wanted.server, wanted.network)
            present = record.s3
            if present is not None and present.model_copy(update={"network": wanted.network}) == wanted:
                return
            if present is not None and wanted.revision <= present.revision:
                raise precondition(f"server {wanted.server!r} has revision {present.revision} of its S3 connections")
            if name in self._servers:
                try:
                    await self._servers[name].exchange_s3(wanted.connections)
                except OSError as error:
                    raise precondition(f"server {wanted.server!r} cannot write its files: {error.strerror}") from error
            record.s3 = wanted
            self._document.touch()

    async def put_preemption(self, name: str, wanted: ServerPreemption) -> None:
        """Tell a server that runs when its cluster is preempted."""
        self.check(name)
        await self._advance(name)
        async with self._locks[name]:
            record = self._records.get(name)
            if record is None or record.server is None or name not in self._servers:
                raise precondition(f"host {name!r} carries no server that runs")
            self._check_owner(name, record.server, wanted.server, wanted.network)
            present = record.preemption
            if present == wanted:
                return
            if present is not None and wanted.revision <= present.revision:
                raise precondition(f"server {wanted.server!r} has revision {present.revision} of its notice")
            try:
                await self._servers[name].tell_of_preemption(wanted.preempt_at)
            except OSError as error:
                raise precondition(f"server {wanted.server!r} cannot write its file: {error.strerror}") from error
            record.preemption = wanted
            self._document.touch()

    async def rebuild(self, name: str, wanted: ServerRebuild) -> None:
        """Start writing the server again: it is gone at once, and what of its disk is not kept before it boots."""
        self.check(name)
        check_spec(wanted.server)
        self._check_ipus(name, wanted.server)
        await self._advance(name)
        async with self._locks[name]:
            record = self._records.get(name)
            if record is None or record.server is None or record.state in {HostState.WIPING, HostState.FAILED}:
                raise precondition(f"host {name!r} carries no server that could be written again")
            self._check_owner(name, record.server, wanted.server.name, wanted.server.network)
            if wanted.server == record.server:
                return
            if wanted.server.generation <= record.server.generation:
                raise precondition(f"server {wanted.server.name!r} has generation {record.server.generation}")
            snapshot = self._snapshot(wanted.server, self._region_of[name])
            await self._shut(name, _FAREWELLS["reboot"])
            self._leave(name)
            self._copies_end(name)
            record.rewrite(wanted.server, wanted.disk, snapshot)
            self._due(name, record, Action.HOST_DEPLOY)

    def check_address(self, wanted: AddressServer, region: str) -> None:
        """Refuse a server that could not have an address of the region now."""
        self.check_runs(wanted)
        if self._region_of[wanted.host] != region:
            raise precondition(f"host {wanted.host!r} is in {self._region_of[wanted.host]!r}, not in {region!r}")

    def check_runs(self, wanted: VolumeServer | AddressServer) -> None:
        """Refuse a server to which nothing could be attached now."""
        self.check(wanted.host)
        record = self._records.get(wanted.host)
        if record is None or record.server is None or wanted.host not in self._servers:
            raise precondition(f"host {wanted.host!r} carries no server that runs")
        self._check_owner(wanted.host, record.server, wanted.server, wanted.network)

    async def server_to_copy(self, wanted: SnapshotServer, region: str) -> ServerSpec:
        """A server whose disk can be copied now; refuses another."""
        self.check(wanted.host)
        await self._advance(wanted.host)
        record = self._records.get(wanted.host)
        if record is None or record.server is None or record.state not in _SWITCHED:
            raise precondition(f"host {wanted.host!r} carries no server whose disk could be copied now")
        if self._region_of[wanted.host] != region:
            raise precondition(f"host {wanted.host!r} is in {self._region_of[wanted.host]!r}, not in {region!r}")
        if record.server.name != wanted.server:
            raise precondition(f"host {wanted.host!r} carries another server than {wanted.server!r}")
        # A server that is off keeps its network's name when the network is gone.
        if (self._network_of(wanted.host) or record.server.network) != wanted.network:
            raise precondition(f"host {wanted.host!r} is not in network {wanted.network!r}")
        return record.server

    def open_disk(self, wanted: SnapshotServer) -> Folder | None:
        """The disk of a server, to copy it; None where there is nothing on it yet."""
        record = self._records.get(wanted.host)
        if record is None or record.server is None or record.server.name != wanted.server:
            raise precondition(f"host {wanted.host!r} carries another server than {wanted.server!r}")
        return self._disks.open(wanted.host)

    def deploys_from(self, snapshot: str) -> bool:
        """Whether a disk is being filled from a snapshot, or about to be."""
        filling = (each for each in self._records.values() if each.state is HostState.DEPLOYING)
        return any(each.snapshot == snapshot for each in filling)

    def disk_changed(self, name: str) -> None:
        """A volume came to the disk of a server, or went: what is on it is counted anew."""
        if name in self._servers:
            self._servers[name].count_disk()

    def _check_owner(self, name: str, carried: ServerSpec, server: str, network: str) -> None:
        if carried.name != server:
            raise precondition(f"host {name!r} carries another server than {server!r}")
        if self._network_of(name) != network:
            raise precondition(f"host {name!r} is not in network {network!r}")

    async def jobs_of(self, name: str, server: str, network: str, *, generation: int | None = None) -> Jobs:
        """The programs that the control plane runs on a server that runs; one of this `generation`, if it is given."""
        self.check(name)
        await self._advance(name)
        record, running = self._records.get(name), self._servers.get(name)
        if record is None or record.server is None or running is None:
            raise precondition(f"host {name!r} has no server that runs")
        self._check_owner(name, record.server, server, network)
        if generation not in {None, record.server.generation}:
            raise precondition(f"server {server!r} has generation {record.server.generation}")
        return running.jobs

    async def fail(self, name: str) -> None:
        """Break the host: its server stops answering."""
        self.check(name)
        async with self._locks[name]:
            await self._shut(name)
            self._copies_end(name)
            record = self._records.setdefault(name, HostRecord(HostState.FAILED))
            record.state, record.due, record.broken = HostState.FAILED, None, True
            self._document.touch()

    async def repair(self, name: str) -> None:
        """Repair the host: a server on it boots, without one it is clean."""
        self.check(name)
        async with self._locks[name]:
            record = self._records.get(name)
            if record is None or not record.broken:
                return
            record.broken = False
            if record.state is HostState.FAILED and record.server is None:
                del self._records[name]
                self._document.touch()
            elif record.state is HostState.FAILED and record.unwritten:
                record.state = HostState.DEPLOYING
                self._due(name, record, Action.HOST_DEPLOY)
            elif record.state is HostState.FAILED:
                record.boot()
                self._due(name, record, Action.HOST_BOOT)

    def _check_ipus(self, name: str, spec: ServerSpec) -> None:
        server = self._regions[self._region_of[name]].server_on(name)
        own = server.region.ipus if server is not None and isinstance(server.region, ServerPlan) else 0
        if spec.ipus > own:
            raise invalid(f"host {name!r} has {own} IPUs of its own, not {spec.ipus}")

    @staticmethod
    def _check_repeat(name: str, record: HostRecord, spec: ServerSpec) -> None:
        if record.server != spec:
            raise exists(f"host {name!r} is not clean: it is {record.state}")
        if record.state is HostState.WIPING:
            raise precondition(f"server {spec.name!r} on host {name!r} is being wiped")

    def _due(self, name: str, record: HostRecord, action: Action) -> None:
        record.due = self._after(name, action)
        self._document.touch()
        self._schedule(name)

    def _after(self, name: str, action: Action) -> float:
        return self._clock.now() + self._durations.seconds(action, name)

    def _schedule(self, name: str) -> None:
        """Wake the host when its transition is due, in the place of an earlier timer."""
        record, timer = self._records.get(name), self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()
        if record is not None and record.due is not None:
            wait = max(0.0, record.due - self._clock.now())
            self._timers[name] = asyncio.get_running_loop().call_later(wait, self._wake, name)

    def _wake(self, name: str) -> None:
        self._timers.pop(name, None)
        task = asyncio.create_task(self._advance(name))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _advance(self, name: str) -> None:
        """Let every transition happen whose time has come."""
        record = self._records.get(name)
        if record is None or record.due is None or self._disks.is_being_filled(name):
            return
        async with self._locks[name]:
            while self._records.get(name) is record and self._passed(name, record):
                record.due = await self._transit(name, record)
                self._document.touch()
            self._schedule(name)

    def _passed(self, name: str, record: HostRecord) -> bool:
        if self._disks.is_being_filled(name):
            return False
        return record.due is not None and record.due <= self._clock.now()

    async def _transit(self, name: str, record: HostRecord) -> float | None:
        """Make one transition; answers when the next one is due. Safe to repeat after a kill."""
        if record.state is HostState.DEPLOYING:
            if record.snapshot is not None:
                # It goes on when the disk is filled, and nobody who asks waits for that.
                self._disks.fill(name, record, self._wake)
                return record.due
            if record.disk is not None:
                await self._disks.erase(name, record)
            record.boot()
            return self._after(name, Action.HOST_BOOT)
        if record.state is HostState.BOOTING:
            await self._open(name, record)
            record.state = HostState.RUNNING
            record.set_up_at = self._after(name, Action.HOST_SET_UP)
        elif record.state is HostState.WIPING:
            # The wipe must be on disk before data goes, or a kill here would revive an emptied server.
            await self._document.settled()
            await asyncio.to_thread(wipe, self._folder / name)
            self._consoles.remove(name)
            del self._records[name]
            if record.broken:
                self._records[name] = HostRecord(HostState.FAILED, broken=True)
        return None

    async def _open(self, name: str, record: HostRecord) -> None:
        if record.server is None:
            return
        around = self._surroundings(name, self._region_of[name])
        buckets = record.s3.connections if record.s3 else ()
        preempt_at = record.preemption.preempt_at if record.preemption else None
        console = self._consoles.of(name)
        begun = console.boot(record.boot_id)
        server = PoplarServer(
            record.server,
            self._folder / name,
            around,
            buckets=buckets,
            preempt_at=preempt_at,
            console=console if begun else None,
        )
        record.ssh_port = await server.start(record.ssh_port)
        self._servers[name] = server
        await self._addresses.opened(name, record.ssh_port)

    async def _shut(self, name: str, why: str | None = None) -> None:
        """Stop a server that runs; its console says `why`, or only that it ended when its power was cut."""
        server = self._servers.pop(name, None)
        if server is not None:
            await self._addresses.shut(name)
            await server.stop()
            self._consoles.of(name).end(why)

    def console_of(self, name: str, server: str, network: str) -> Console:
        """The serial console of a server, which may be off."""
        self.check(name)
        record = self._records.get(name)
        if record is None or record.server is None or record.state is HostState.WIPING:
            raise not_found(f"server {server!r} is not on host {name!r}")
        if record.server.name != server or self._network_of(name) not in {None, network}:
            raise precondition(f"host {name!r} carries another server than {server!r}, or is in another network")
        return self._consoles.of(name)


def _moved(server: ServerSpec, wanted: PowerAction) -> ServerSpec:
    """The server as it is to be once it is switched on for a network."""
    if wanted.action != "on" or wanted.network is None:
        return server
    return server.model_copy(update={"network": wanted.network, "environment": wanted.environment or {}})
