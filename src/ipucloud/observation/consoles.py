"""Serial consoles that were written to since they were read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import structlog

from ipucloud.programs.consoles.store import KEPT_BOOTS, Boot, Server
from ipucloud.site.ports import Site, SiteError
from ipucloud.wire.site import CONSOLE_BYTES
from ipucloud.wire.site import Host as SeenHost

log = structlog.get_logger(__name__)

MOST_READ = 32
"""Consoles of a region that are read in one pass; the others follow."""


def written_to(servers: Sequence[Server], hosts: Mapping[str, SeenHost]) -> list[Server]:
    """The servers on whose consoles there is more than what was read of them."""
    return [
        server
        for server in servers
        if (host := hosts.get(server.host)) is not None
        and host.server is not None
        and host.server.name == server.name
        and host.console_bytes is not None
        and host.console_bytes > server.written
    ][:MOST_READ]


async def read_consoles(site: Site, servers: Sequence[Server]) -> list[Boot]:
    """What was written to them since; nothing of a server whose console cannot be read now."""
    per_server = await asyncio.gather(*(_read(site, each) for each in servers))
    return [boot for each in per_server for boot in each]


async def _read(site: Site, server: Server) -> list[Boot]:
    try:
        console = await site.hosts.console(server.host, server.name, server.network, after=server.written)
    except SiteError as error:
        log.info("console_not_read", server=server.name, error=str(error))
        return []
    if console is None:
        return []
    return [
        Boot(
            server.project_id,
            server.id,
            boot.boot_id,
            boot.number,
            boot.started_at,
            boot.ended_at,
            boot.text[-CONSOLE_BYTES:].replace("\x00", "\ufffd"),
            boot.dropped,
            boot.written,
        )
        for boot in console.boots[-KEPT_BOOTS:]
    ]
