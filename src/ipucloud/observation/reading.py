"""One reading of a region at its site: few calls, whatever its size, and no database session meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import structlog

from ipucloud.inventory.health.codes import Source
from ipucloud.inventory.health.observations import Read
from ipucloud.kernel.clock import Clock
from ipucloud.observation.expected import Expected
from ipucloud.site.errors import SiteError
from ipucloud.site.ports import Agent, Link, Site
from ipucloud.wire.site import Host, RedfishSystem

log = structlog.get_logger(__name__)

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Reading:
    """What the site showed, by name. None: this source did not answer, and nothing follows from that.

    `keys` has the SSH host keys of the servers that were asked; None as a key: no answer.
    """

    machines: Mapping[str, RedfishSystem] | None
    agents: Mapping[str, Agent] | None
    links: Sequence[Link] | None
    hosts: Mapping[str, Host] | None
    keys: Mapping[str, str | None]
    reads: Sequence[Read]


async def read_site(site: Site, expected: Expected, clock: Clock) -> Reading:
    """Read everything at once. A source that fails, or shows nothing of what must be there, is not read."""
    started = clock.monotonic()
    systems, agents, links, hosts = await asyncio.gather(
        _answer(site.machines.list(expected.region)),
        _answer(site.vipu.agents()),
        _answer(site.vipu.impaired_links()),
        _answer(site.hosts.list(expected.region)),
    )
    seconds = clock.monotonic() - started
    machines = {each.name for each in expected.machines}
    under_vipu = {each.name for each in expected.machines if not each.is_server}
    reads: list[Read] = []

    def named(source: Source, wanted: set[str], answer: Mapping[str, Answer] | str) -> Mapping[str, Answer] | None:
        error = answer if isinstance(answer, str) else None
        found = {} if isinstance(answer, str) else {name: each for name, each in answer.items() if name in wanted}
        if error is None and wanted and not found:
            error = "the answer names none of the region's hardware"
        reads.append(Read(source, seconds, len(wanted), len(found), error))
        return found if error is None else None

    shown = agents if isinstance(agents, str) else {each.id: each for each in agents}
    return Reading(
        machines=named(
            Source.BMC, machines, systems if isinstance(systems, str) else {each.Id: each for each in systems}
        ),
        agents=named(Source.VIPU, under_vipu, links if isinstance(links, str) else shown),
        links=None if isinstance(links, str) else links,
        hosts=named(
            Source.HOST,
            {each.name for each in expected.hosts},
            hosts if isinstance(hosts, str) else {each.name: each for each in hosts},
        ),
        keys={},
        reads=reads,
    )


async def _answer(call: Awaitable[Answer]) -> Answer | str:
    """The answer, or why there is none."""
    try:
        return await call
    except SiteError as error:
        return str(error)
