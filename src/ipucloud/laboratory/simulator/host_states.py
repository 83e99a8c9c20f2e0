"""The states of hosts: deploy → boot → running, power, wipe → clean. A running host has a real SSH server behind it.

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
from ipucloud.laboratory.simulator.disks import Disks
from ipucloud.laboratory.simulator.durations import Action, Durations
from ipucloud.laboratory.simulator.hardware import Region
from ipucloud.laboratory.simulator.refusal import not_found, precondition
from ipucloud.laboratory.simulator.ssh.console import Consoles
from ipucloud.laboratory.simulator.ssh.server import PoplarServer
from ipucloud.laboratory.simulator.ssh.server_host import ServerHost
from ipucloud.laboratory.simulator.state import HostRecord
from ipucloud.laboratory.simulator.store import Document
from ipucloud.laboratory.simulator.wiping import wipe
from ipucloud.wire.site import HostState, ServerSpec

NetworkOf = Callable[[str], str | None]
SWITCHED = frozenset({HostState.RUNNING, HostState.BOOTING, HostState.OFF})
"""The states in which a host can be switched, and its disk be copied."""


class HostStates:
    """The records of hosts, the servers that run on them, and every transition from one state to the next.

    Only hosts that carry a server, or failed, have a record; all others are clean.
    """

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
        server_host: Callable[[str, str], ServerHost],
        addresses: Addresses,
        disks: Disks,
    ) -> None:
        self.region_of = {host.name: slug for slug, region in regions.items() for host in region.hosts}
        self.records = records
        self.clock = clock
        self.document = document
        self.network_of = network_of
        self.addresses = addresses
        self.disks = disks
        self.servers: dict[str, PoplarServer] = {}
        self.consoles = Consoles(folder.parent / "consoles", clock.now)
        self.locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._folder = folder
        self._durations = durations
        self._server_host = server_host
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Take up where the last process stopped: the same servers on the same ports with the same keys.

        Nobody may call before this returns, and no transition happens until every server runs again.
        """
        for name, record in self.records.items():
            if record.state is HostState.RUNNING:
                await self._open(name, record)
        for name in self.records:
            self._schedule(name)

    async def close(self) -> None:
        """Stop every server; nothing about the hosts changes."""
        await self.disks.close()
        for timer in self._timers.values():
            timer.cancel()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(server.stop() for server in self.servers.values()))
        self.servers.clear()

    def check(self, name: str) -> None:
        """Refuse the name of a host that does not exist."""
        if name not in self.region_of:
            raise not_found(f"host {name!r} does not exist")

    def check_owner(self, name: str, carried: ServerSpec, server: str, network: str) -> None:
        """Refuse a server that is not the one meant, and a host that is not in its tenant's network."""
        if carried.name != server:
            raise precondition(f"host {name!r} carries another server than {server!r}")
        if self.network_of(name) != network:
            raise precondition(f"host {name!r} is not in network {network!r}")

    def due(self, name: str, record: HostRecord, action: Action) -> None:
        """Begin a transition, which ends once the action has taken its time."""
        record.due = self._after(name, action)
        self.document.touch()
        self._schedule(name)

    async def advance(self, name: str) -> None:
        """Let every transition happen whose time has come."""
        record = self.records.get(name)
        if record is None or record.due is None or self.disks.is_being_filled(name):
            return
        async with self.locks[name]:
            while self.records.get(name) is record and self._passed(name, record):
                record.due = await self._transit(name, record)
                self.document.touch()
            self._schedule(name)

    async def shut(self, name: str, why: str | None = None) -> None:
        """Stop a server that runs; its console says `why`, or only that it ended when its power was cut."""
        server = self.servers.pop(name, None)
        if server is not None:
            await self.addresses.shut(name)
            await server.stop()
            self.consoles.of(name).end(why)

    def _after(self, name: str, action: Action) -> float:
        return self.clock.now() + self._durations.seconds(action, name)

    def _schedule(self, name: str) -> None:
        """Wake the host when its transition is due, in the place of an earlier timer."""
        record, timer = self.records.get(name), self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()
        if record is not None and record.due is not None:
            wait = max(0.0, record.due - self.clock.now())
            self._timers[name] = asyncio.get_running_loop().call_later(wait, self._wake, name)

    def _wake(self, name: str) -> None:
        self._timers.pop(name, None)
        task = asyncio.create_task(self.advance(name))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _passed(self, name: str, record: HostRecord) -> bool:
        if self.disks.is_being_filled(name):
            return False
        return record.due is not None and record.due <= self.clock.now()

    async def _transit(self, name: str, record: HostRecord) -> float | None:
        """Make one transition; answers when the next one is due. Safe to repeat after a kill."""
        if record.state is HostState.DEPLOYING:
            if record.snapshot is not None:
                # It goes on when the disk is filled, and nobody who asks waits for that.
                self.disks.fill(name, record, self._wake)
                return record.due
            if record.disk is not None:
                await self.disks.erase(name, record)
            record.boot()
            return self._after(name, Action.HOST_BOOT)
        if record.state is HostState.BOOTING:
            await self._open(name, record)
            record.state = HostState.RUNNING
            record.set_up_at = self._after(name, Action.HOST_SET_UP)
        elif record.state is HostState.WIPING:
            # The wipe must be on disk before data goes, or a kill here would revive an emptied server.
            await self.document.settled()
            await asyncio.to_thread(wipe, self._folder / name)
            self.consoles.remove(name)
            del self.records[name]
            if record.broken:
                self.records[name] = HostRecord(HostState.FAILED, broken=True)
        return None

    async def _open(self, name: str, record: HostRecord) -> None:
        if record.server is None:
            return
        host = self._server_host(name, self.region_of[name])
        buckets = record.s3.connections if record.s3 else ()
        preempt_at = record.preemption.preempt_at if record.preemption else None
        sources = record.sources.allowed_sources if record.sources else ()
        console = self.consoles.of(name)
        begun = console.boot(record.boot_id)
        server = PoplarServer(
            record.server,
            self._folder / name,
            host,
            buckets=buckets,
            preempt_at=preempt_at,
            allowed_sources=sources,
            console=console if begun else None,
        )
        record.ssh_port = await server.start(record.ssh_port)
        self.servers[name] = server
        await self.addresses.opened(name, record.ssh_port)
