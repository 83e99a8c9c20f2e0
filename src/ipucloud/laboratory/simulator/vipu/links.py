"""The links between agents: which a set of machines uses, and what it means when one is broken.

A machine has the links among its own IPUs (`internal`), the IPU-Links and sync cables to the next machine of its chain
(`next`), and the GW-Link to the machine in the same slot of the next domain (`gateway`). A link's name is that of the
machine where it begins, and its kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ipucloud.laboratory.simulator.hardware import DOMAIN_MACHINES, Machine
from ipucloud.wire.inventory import LinkKind, LinkState

BrokenLinks = Mapping[str, LinkState]
"""The links that are not up, by name."""


@dataclass(frozen=True)
class Link:
    """A link from one agent to another, or among the IPUs of one."""

    one: Machine
    other: Machine
    kind: LinkKind

    @property
    def name(self) -> str:
        return link_name(self.one.name, self.kind)


def link_name(machine: str, kind: LinkKind) -> str:
    return f"{machine}/{kind}"


def links_among(machines: Iterable[Machine]) -> Iterator[Link]:
    """Every link that these machines of one cluster have among themselves, in the order of the cluster."""
    ordered = sorted(machines, key=lambda m: (m.domain, m.slot))
    places = {(m.domain, m.slot): m for m in ordered}
    for machine in ordered:
        yield Link(machine, machine, LinkKind.INTERNAL)
        after = places.get((machine.domain, (machine.slot + 1) % DOMAIN_MACHINES))
        if after is not None:
            yield Link(machine, after, LinkKind.NEXT)
        beyond = places.get((machine.domain + 1, machine.slot))
        if beyond is not None:
            yield Link(machine, beyond, LinkKind.GATEWAY)


def down_among(machines: Iterable[Machine], broken: BrokenLinks) -> list[Link]:
    """The links of these machines over which nothing passes."""
    if not broken:
        return []
    return [link for link in links_among(machines) if broken.get(link.name) is LinkState.DOWN]
