"""What is read of Poplar servers: whether SSH answers, with which key, and whether anybody uses them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Mapping
from uuid import UUID

from ipucloud.clusters.idle.store import Use, Watched
from ipucloud.kernel.clock import Clock
from ipucloud.observation.expected import Host
from ipucloud.site.ports import Site
from ipucloud.wire.site import Host as SiteHost
from ipucloud.wire.site import HostState

EVERY_SECONDS = 30.0
"""How often each server is asked."""
SUSPECTED_SECONDS = 5.0
"""How often one about which there is a live report is asked."""
AT_ONCE = 50
"""Connections at the same time."""
READING_SECONDS = 3.0
"""No server is asked later than this in one reading; those left are the first of the next."""


class SshReader:
    """Remembers, in this process, when each server was asked last: after a restart every server is asked once more."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._asked_at: dict[UUID, float] = {}

    async def read(self, site: Site, hosts: Collection[Host], reported: Collection[UUID]) -> dict[str, str | None]:
        """The keys of the servers whose turn it is; None: no answer. `reported`: hosts with a live report."""
        started = self._clock.monotonic()
        running = {host.id: host for host in hosts if host.running_server is not None}
        self._asked_at = {host_id: at for host_id, at in self._asked_at.items() if host_id in running}

        def due(host_id: UUID) -> float:
            pause = SUSPECTED_SECONDS if host_id in reported else EVERY_SECONDS
            return self._asked_at[host_id] + pause if host_id in self._asked_at else float("-inf")

        turn = deque(
            host for host in sorted(running.values(), key=lambda each: due(each.id)) if due(host.id) <= started
        )
        keys: dict[str, str | None] = {}

        async def ask() -> None:
            while turn and self._clock.monotonic() - started < READING_SECONDS:
                host = turn.popleft()
                server = host.running_server
                if server is None or server.ssh_host is None or server.ssh_port is None:
                    continue
                self._asked_at[host.id] = self._clock.monotonic()
                keys[host.name] = await site.hosts.ssh_host_key(server.ssh_host, server.ssh_port)

        await asyncio.gather(*(ask() for _ in range(min(AT_ONCE, len(turn)))))
        return keys


def use_of(server: Watched, hosts: Mapping[str, SiteHost]) -> Use:
    """What the site shows of it. Of a host that does not run this server nobody knows anything."""
    host = hosts.get(server.host)
    if host is None or host.server is None or host.server.name != server.name or host.state is not HostState.RUNNING:
        return Use(server, None, None, None)
    return Use(server, host.sessions, host.attached_ipus, host.idle_seconds)
