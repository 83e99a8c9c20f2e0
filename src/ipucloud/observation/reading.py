"""One reading of a region at its site: few calls, whatever its size, and no database session meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import structlog

from ipucloud.inventory.expected.shown import Shown
from ipucloud.inventory.health.codes import Kind, Source
from ipucloud.inventory.health.observations import Read
from ipucloud.kernel.clock import Clock
from ipucloud.observation.expected import Expected
from ipucloud.observation.identities import shown_hosts, shown_machines
from ipucloud.site.errors import SiteError
from ipucloud.site.ports import Agent, Link, Release, Site
from ipucloud.site.users import users_with_allocation
from ipucloud.wire.site import Host, RedfishSystem

log = structlog.get_logger(__name__)

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Reading:
    """What the site showed, by name. None: this source did not answer, and nothing follows from that.

    `shown` has what all hardware shows of itself, also hardware that is not registered, by the kinds that were read.
    `release`: what the V-IPU controller says that it runs; None: it did not say, or there is none.
    `allocations` has the names of those at the V-IPU controller, `users` those of its users who see the allocation of
    their name; None, too, where the controller has no users. `keys` has the SSH host keys of the servers that were
    asked; None as a key: no answer.
    """

    machines: Mapping[str, RedfishSystem] | None
    agents: Mapping[str, Agent] | None
    links: Sequence[Link] | None
    hosts: Mapping[str, Host] | None
    keys: Mapping[str, str | None]
    reads: Sequence[Read]
    shown: Mapping[Kind, Sequence[Shown]] = field(default_factory=dict)
    allocations: frozenset[str] | None = None
    users: frozenset[str] | None = None
    release: Release | None = None


async def read_site(site: Site, expected: Expected, clock: Clock) -> Reading:
    """Read everything at once. A source that fails, or shows nothing of what must be there, is not read."""
    started = clock.monotonic()
    release, systems, agents, links, hosts, (allocations, users) = await asyncio.gather(
        _answer(site.vipu.release()),
        _answer(site.machines.list(expected.region)),
        _answer(site.vipu.agents()),
        _answer(site.vipu.impaired_links()),
        _answer(site.hosts.list(expected.region)),
        asyncio.gather(_answer(site.vipu.list_allocations("")), _answer(users_with_allocation(site, expected.vipu))),
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

    by_system = systems if isinstance(systems, str) else {each.Id: each for each in systems}
    by_agent = agents if isinstance(agents, str) else {each.id: each for each in agents}
    by_host = hosts if isinstance(hosts, str) else {each.name: each for each in hosts}
    read_machines = named(Source.BMC, machines, by_system)
    failed = next((each for each in (release, links, allocations, users) if isinstance(each, str)), None)
    read_agents = named(Source.VIPU, under_vipu, failed or by_agent)
    read_hosts = named(Source.HOST, {each.name for each in expected.hosts}, by_host)
    shown: dict[Kind, Sequence[Shown]] = {}
    if read_machines is not None and not isinstance(by_system, str):
        shown["machine"] = shown_machines(by_system, {} if isinstance(by_agent, str) else by_agent)
    if read_hosts is not None and not isinstance(by_host, str):
        shown["host"] = shown_hosts(by_host)
    return Reading(
        machines=read_machines,
        agents=read_agents,
        links=None if isinstance(links, str) else links,
        hosts=read_hosts,
        keys={},
        reads=reads,
        shown=shown,
        allocations=None if isinstance(allocations, str) else frozenset(each.id for each in allocations),
        users=None if isinstance(users, str) else users,
        release=release if isinstance(release, Release) else None,
    )


async def _answer(call: Awaitable[Answer]) -> Answer | str:
    """The answer, or why there is none."""
    try:
        return await call
    except SiteError as error:
        return str(error)
