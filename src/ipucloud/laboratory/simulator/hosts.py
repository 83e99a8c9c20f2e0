"""Hosts: what they show, and what deploys, switches, rebuilds, wipes and breaks them."""

from __future__ import annotations

from collections.abc import Callable

from ipucloud.laboratory.simulator.durations import Action
from ipucloud.laboratory.simulator.hardware import Region, ServerPlan
from ipucloud.laboratory.simulator.host_states import SWITCHED, HostStates
from ipucloud.laboratory.simulator.identities import Identities
from ipucloud.laboratory.simulator.refusal import exists, invalid, not_found, precondition
from ipucloud.laboratory.simulator.ssh.spec import check_spec, sources_of
from ipucloud.laboratory.simulator.state import HostRecord
from ipucloud.wire.site import Host, HostState, PowerAction, ServerRebuild, ServerSpec

_FAREWELLS = {"off": "Power down", "reboot": "Restarting system"}
SnapshotOf = Callable[[ServerSpec, str], str | None]
"""The snapshot that a server of this region is to be made from, if its image is one; refuses one that cannot be."""


class Hosts:
    """Every host of the site that is not hidden, and what changes its state."""

    def __init__(
        self,
        regions: dict[str, Region],
        states: HostStates,
        *,
        identities: Identities,
        leave: Callable[[str], None],
        snapshot: SnapshotOf,
        copies_end: Callable[[str], None],
    ) -> None:
        self._regions = regions
        self._states = states
        self._identities = identities
        self._leave = leave
        self._snapshot = snapshot
        self._copies_end = copies_end

    def names(self, region: str | None) -> list[str]:
        """Every host (of one region, when it is named) that is not hidden."""
        names = (name for name, slug in self._states.region_of.items() if region in {None, slug})
        return [name for name in names if not self._identities.is_hidden(name)]

    def is_on(self, name: str) -> bool:
        """Whether the host is switched on: it takes power from the writing of an image to the end of its wipe."""
        record = self._states.records.get(name)
        return record is not None and record.state not in {HostState.OFF, HostState.FAILED}

    async def observe(self, name: str, *, count: bool = True) -> Host:
        """The host as it stands. With `count` its server counts its IPUs now, as `gc-info` would."""
        self._states.check(name)
        await self._states.advance(name)
        record = self._states.records.get(name)
        region = self._states.region_of[name]
        shown = self._identities.of_host(name, self._regions[region].server_on(name))
        itself = {"serial_number": shown.serial_number, "model": shown.model, "firmware": shown.firmware}
        if record is None:
            return Host(name=name, region=region, state=HostState.CLEAN, **itself)
        server = self._states.servers.get(name)
        if server is not None and count and record.set_up_at <= self._states.clock.now():
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
            sessions=server.activity.sessions if server else None,
            attached_ipus=server.activity.attached_ipus if server else None,
            idle_seconds=server.activity.idle_seconds if server else None,
            **(server.load() if server else {}),
            sources=record.sources,
            s3=record.s3_seen,
            preemption=record.preemption_seen,
            console_bytes=self._states.consoles.of(name).written if record.server else None,
            detail=server.detail if server else "the host failed" if record.broken else None,
            **itself,
        )

    async def put_server(self, name: str, spec: ServerSpec) -> None:
        """Start deploying a server on a clean host; a repeat of the same spec changes nothing."""
        self._states.check(name)
        check_spec(spec)
        self._check_ipus(name, spec)
        await self._states.advance(name)
        async with self._states.locks[name]:
            record = self._states.records.get(name)
            if record is not None:
                self._check_repeat(name, record, spec)
                return
            if self._states.network_of(name) != spec.network:
                raise precondition(f"host {name!r} is not in network {spec.network!r}")
            snapshot = self._snapshot(spec, self._states.region_of[name])
            record = HostRecord(HostState.DEPLOYING, spec, snapshot=snapshot, sources=sources_of(spec, None))
            self._states.records[name] = record
            self._states.due(name, record, Action.HOST_DEPLOY)

    async def delete_server(self, name: str, server_name: str | None) -> None:
        """Start wiping: the SSH server is gone at once, its data before the host is clean."""
        self._states.check(name)
        await self._states.advance(name)
        async with self._states.locks[name]:
            record = self._states.records.get(name)
            if record is None or record.server is None or server_name not in {None, record.server.name}:
                raise not_found(f"server {server_name!r} is not on host {name!r}")
            if record.state is HostState.WIPING:
                return
            await self._states.shut(name)
            self._leave(name)
            await self._states.addresses.leave(name)
            self._copies_end(name)
            record.state = HostState.WIPING
            self._states.due(name, record, Action.HOST_WIPE)

    async def power(self, name: str, request: PowerAction) -> None:
        """Start a power action on a host with a server. The disk and the host key stay."""
        self._states.check(name)
        await self._states.advance(name)
        async with self._states.locks[name]:
            record = self._states.records.get(name)
            if record is None or record.server is None or record.state not in SWITCHED:
                state = HostState.CLEAN if record is None else record.state
                raise precondition(f"host {name!r} is {state}: only a deployed host has power actions")
            self._check_tenant(name, record.server, request)
            if request.boot_id not in {None, record.boot_id}:
                raise precondition(f"host {name!r} has started again since boot {request.boot_id}")
            spec = _moved(record.server, request)
            if request.action == "on" and record.state is not HostState.OFF and spec.network == record.server.network:
                return
            await self._states.shut(name, _FAREWELLS.get(request.action))
            record.server = spec
            if request.action == "off":
                record.state, record.due, record.preemption = HostState.OFF, None, None
                self._states.document.touch()
            else:
                record.boot()
                self._states.due(name, record, Action.HOST_BOOT)

    def _check_tenant(self, name: str, server: ServerSpec, request: PowerAction) -> None:
        """A host's name says nothing of whose it is: what an action names must be so."""
        if request.server not in {None, server.name}:
            raise precondition(f"host {name!r} carries another server than {request.server!r}")
        network = self._states.network_of(name)
        if request.network is not None and network != request.network and (network or request.action == "on"):
            raise precondition(f"host {name!r} is not in network {request.network!r}")

    async def rebuild(self, name: str, request: ServerRebuild) -> None:
        """Start writing the server again: it is gone at once, and what of its disk is not kept before it boots."""
        self._states.check(name)
        check_spec(request.server)
        self._check_ipus(name, request.server)
        await self._states.advance(name)
        async with self._states.locks[name]:
            record = self._states.records.get(name)
            if record is None or record.server is None or record.state in {HostState.WIPING, HostState.FAILED}:
                raise precondition(f"host {name!r} carries no server that could be rebuilt")
            self._states.check_owner(name, record.server, request.server.name, request.server.network)
            if request.server == record.server:
                return
            if request.server.generation <= record.server.generation:
                raise precondition(f"server {request.server.name!r} has generation {record.server.generation}")
            snapshot = self._snapshot(request.server, self._states.region_of[name])
            await self._states.shut(name, _FAREWELLS["reboot"])
            self._leave(name)
            self._copies_end(name)
            record.sources = sources_of(request.server, record.sources)
            record.rewrite(request.server, request.disk, snapshot)
            self._states.due(name, record, Action.HOST_DEPLOY)

    async def fail(self, name: str) -> None:
        """Break the host: its server stops answering."""
        self._states.check(name)
        async with self._states.locks[name]:
            await self._states.shut(name)
            self._copies_end(name)
            record = self._states.records.setdefault(name, HostRecord(HostState.FAILED))
            record.state, record.due, record.broken = HostState.FAILED, None, True
            self._states.document.touch()

    async def broken(self) -> list[str]:
        """The hosts that have failed."""
        records = self._states.records
        for name in list(records):
            await self._states.advance(name)
        return [name for name, record in records.items() if record.broken or record.state is HostState.FAILED]

    async def repair(self, name: str) -> None:
        """Repair the host: a server on it boots, without one it is clean."""
        self._states.check(name)
        async with self._states.locks[name]:
            record = self._states.records.get(name)
            if record is None or not record.broken:
                return
            record.broken = False
            if record.state is HostState.FAILED and record.server is None:
                del self._states.records[name]
                self._states.document.touch()
            elif record.state is HostState.FAILED and record.unwritten:
                record.state = HostState.DEPLOYING
                self._states.due(name, record, Action.HOST_DEPLOY)
            elif record.state is HostState.FAILED:
                record.boot()
                self._states.due(name, record, Action.HOST_BOOT)

    def _check_ipus(self, name: str, spec: ServerSpec) -> None:
        server = self._regions[self._states.region_of[name]].server_on(name)
        own = server.region.ipus if server is not None and isinstance(server.region, ServerPlan) else 0
        if spec.ipus > own:
            raise invalid(f"host {name!r} has {own} IPUs of its own, not {spec.ipus}")

    @staticmethod
    def _check_repeat(name: str, record: HostRecord, spec: ServerSpec) -> None:
        if record.server != spec:
            raise exists(f"host {name!r} is not clean: it is {record.state}")
        if record.state is HostState.WIPING:
            raise precondition(f"server {spec.name!r} on host {name!r} is being wiped")


def _moved(server: ServerSpec, request: PowerAction) -> ServerSpec:
    """The server as it is to be once it is switched on for a network."""
    if request.action != "on" or request.network is None:
        return server
    return server.model_copy(update={"network": request.network, "environment": request.environment or {}})
