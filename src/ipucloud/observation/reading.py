"""One reading of a region at its site: few calls, whatever its size, and no database session meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import structlog

from ipucloud.inventory.expected.shown import Shown
from ipucloud.inventory.health.codes import Kind, Source
from ipucloud.inventory.health.observations import Read
from ipucloud.observation.expected import Expected
from ipucloud.observation.identities import shown_hosts, shown_machines
from ipucloud.site.ports import Site, SiteError, VipuAddress
from ipucloud.site.vipu import users_with_allocation
from ipucloud.site.vipu_ports import Agent, Link, Release, Vipu
from ipucloud.wire.redfish import RedfishSystem
from ipucloud.wire.site import Host

log = structlog.get_logger(__name__)

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class ControllerReading:
    """What a V-IPU controller showed: agents by name, also of machines that are not registered; names of allocations.

    `error`: why its reading is not complete; no fact follows from it then. It was asked for `objects` machines, and
    `answered` for so many. `release`: what it says that it runs; None: it did not say. `users` has the names of those
    who see the allocation of their name; None: it has no users.
    """

    name: str
    objects: int
    answered: int
    release: Release | None = None
    agents: Mapping[str, Agent] = field(default_factory=dict)
    links: Sequence[Link] = ()
    allocations: frozenset[str] = frozenset()
    users: frozenset[str] | None = None
    error: str | None = None


@dataclass(frozen=True)
class Reading:
    """What the site showed, by name. None: this source did not answer, and nothing follows from that.

    `shown` has what all hardware shows of itself, also hardware that is not registered, by the kinds that were read.
    `controllers` has all of the region, by name. `keys` has the SSH host keys of the servers that were asked; None as a
    key: no answer.
    """

    machines: Mapping[str, RedfishSystem] | None
    controllers: Mapping[str, ControllerReading]
    hosts: Mapping[str, Host] | None
    keys: Mapping[str, str | None]
    reads: Sequence[Read]
    shown: Mapping[Kind, Sequence[Shown]] = field(default_factory=dict)

    @property
    def answering(self) -> frozenset[str]:
        """The names of the controllers that answered."""
        return frozenset(name for name, each in self.controllers.items() if each.error is None)


async def read_site(site: Site, vipus: Mapping[str, Vipu], expected: Expected) -> Reading:
    """Read everything at once. A source that fails, or shows nothing of what must be there, is not read.

    `vipus` are the region's controllers by name.
    """
    (systems, hosts), controllers = await asyncio.gather(
        asyncio.gather(_answer(site.machines.list(expected.region)), _answer(site.hosts.list(expected.region))),
        asyncio.gather(*(_read_controller(each, vipus[each.controller], expected) for each in expected.controllers)),
    )
    reads: list[Read] = []

    def named(source: Source, names: set[str], answer: Mapping[str, Answer] | str) -> Mapping[str, Answer] | None:
        selected, error = _select(names, answer)
        reads.append(Read(source, len(names), len(selected), error))
        return selected if error is None else None

    by_system = systems if isinstance(systems, str) else {each.Id: each for each in systems}
    by_host = hosts if isinstance(hosts, str) else {each.name: each for each in hosts}
    read_machines = named(Source.BMC, {each.name for each in expected.machines}, by_system)
    reads.append(_together(controllers))
    read_hosts = named(Source.HOST, {each.name for each in expected.hosts}, by_host)
    shown: dict[Kind, Sequence[Shown]] = {}
    if read_machines is not None and not isinstance(by_system, str):
        agents = {name: agent for each in controllers for name, agent in each.agents.items()}
        shown["machine"] = shown_machines(by_system, agents)
    if read_hosts is not None and not isinstance(by_host, str):
        shown["host"] = shown_hosts(by_host)
    return Reading(
        machines=read_machines,
        controllers={each.name: each for each in controllers},
        hosts=read_hosts,
        keys={},
        reads=reads,
        shown=shown,
    )


async def _read_controller(address: VipuAddress, vipu: Vipu, expected: Expected) -> ControllerReading:
    release, agents, links, allocations, users = await asyncio.gather(
        _answer(vipu.release()),
        _answer(vipu.agents()),
        _answer(vipu.impaired_links()),
        _answer(vipu.list_allocations("")),
        _answer(users_with_allocation(vipu, address)),
    )
    names = {each.name for each in expected.machines if each.controller == address.controller}
    by_agent = agents if isinstance(agents, str) else {each.id: each for each in agents}
    selected, error = _select(names, by_agent)
    read = ControllerReading(
        address.controller,
        len(names),
        len(selected),
        release=release if isinstance(release, Release) else None,
        agents={} if isinstance(by_agent, str) else by_agent,
        error=error,
    )
    if isinstance(release, str):
        return replace(read, error=release)
    if isinstance(links, str):
        return replace(read, error=links)
    if isinstance(allocations, str):
        return replace(read, error=allocations)
    if isinstance(users, str):
        return replace(read, error=users)
    return replace(read, links=links, allocations=frozenset(each.id for each in allocations), users=users)


def _select(names: Collection[str], answer: Mapping[str, Answer] | str) -> tuple[Mapping[str, Answer], str | None]:
    """The part of an answer that is about these, and why it is none."""
    if isinstance(answer, str):
        return {}, answer
    selected = {name: each for name, each in answer.items() if name in names}
    return selected, "the answer names none of the region's hardware" if names and not selected else None


def _together(controllers: Sequence[ControllerReading]) -> Read:
    """The reading of all controllers of a region: incomplete when that of one is."""
    return Read(
        Source.VIPU,
        sum(each.objects for each in controllers),
        sum(each.answered for each in controllers),
        "; ".join(each.error for each in controllers if each.error is not None) or None,
    )


async def _answer(call: Awaitable[Answer]) -> Answer | str:
    """The answer, or why there is none."""
    try:
        return await call
    except SiteError as error:
        return str(error)
