"""Random lives of reservations, of their clusters and of preemptible ones, and what they cost, counted by the minute.

The count knows only what customers see: the times of the reservation, the state of each cluster at each second, and the
list prices.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from tests.feature.billing.timelines import BASES, MINUTE, SECOND, Version, holds
from tests.support.preemptible import PREEMPTIBLE
from tests.support.reservations import RESERVED

SPAN = 4 * 3600
"""Seconds from the base within which everything is requested, and the reservation ends."""
ORDINARY = "ipu-m2000"
SKUS = (ORDINARY, PREEMPTIBLE, RESERVED)
BLOCK = "m2000-pod16"
SIZES = {BLOCK: 4, "m2000-pod32": 8}
Kind = Literal["reserved", "preemptible", "ordinary"]
KINDS: tuple[Kind, ...] = ("reserved", "preemptible", "ordinary")


@dataclass(frozen=True, slots=True)
class Plan:
    """One customer's cluster. At each of these seconds it goes a step further; the number decides between two ways."""

    kind: Kind
    flavor: str
    turns: tuple[tuple[int, int], ...]

    @property
    def sku(self) -> str:
        return PREEMPTIBLE if self.kind == "preemptible" else ORDINARY


@dataclass(frozen=True, slots=True)
class Script:
    """A reservation from `starts` on for `minutes`, in minutes; clusters; when workers look, and the books are kept."""

    base: datetime
    starts: int
    minutes: int
    blocks: int
    plans: tuple[Plan, ...]
    looks: tuple[int, ...]
    closes: tuple[int, ...]
    prices: Mapping[str, tuple[Version, ...]]

    @property
    def reserved(self) -> Version:
        """When the reservation is in force, in seconds."""
        return Version(self.starts * 60, (self.starts + self.minutes) * 60, Decimal(0))


@dataclass
class Observation:
    """What one customer saw of his cluster: since which second it is in which state."""

    plan: Plan
    states: list[tuple[int, str]] = field(default_factory=list)

    def saw(self, second: int, state: str) -> None:
        if not self.states or self.states[-1][1] != state:
            self.states.append((second, state))


def script_of(seed: int) -> Script:
    """The same for the same seed."""
    draw = random.Random(seed)  # noqa: S311  # repeatable on purpose
    starts = draw.randint(1, 60)
    # Workers look every quarter of an hour at least, so that notices are given and carried out, and at random.
    looks = {*range(draw.randint(0, 899), SPAN, 900), *_seconds(draw, 0, 8)}
    return Script(
        base=draw.choice(BASES),
        starts=starts,
        minutes=draw.randint(60, SPAN // 60 - starts - 1),
        blocks=draw.choice((1, 2)),
        plans=tuple(_plan(draw) for _ in range(draw.randint(3, 8))),
        looks=tuple(sorted(looks)),
        closes=tuple(_seconds(draw, 0, 2)),
        prices={sku: _book(draw) for sku in SKUS},
    )


def _plan(draw: random.Random) -> Plan:
    kind = draw.choice(KINDS)
    flavor = BLOCK if kind == "reserved" else draw.choice(sorted(SIZES))
    return Plan(kind, flavor, tuple((second, draw.randint(0, 5)) for second in _seconds(draw, 2, 14)))


def _book(draw: random.Random) -> tuple[Version, ...]:
    edges = [-SPAN, *_seconds(draw, 0, 2), None]
    return tuple(Version(start, end, _price(draw)) for start, end in pairwise(edges) if start is not None)


def _price(draw: random.Random) -> Decimal:
    places = draw.choice((2, 4, 10))
    return Decimal(draw.randint(0, 9 * 10**places)).scaleb(-places)


def _seconds(draw: random.Random, fewest: int, most: int) -> list[int]:
    return sorted(draw.sample(range(1, SPAN), draw.randint(fewest, most)))


Bill = Mapping[tuple[int, str, date], tuple[int, Decimal]]
"""Minutes and cost of each cluster, or of the reservation as the one after the last, by SKU and month."""


def counted(script: Script, lives: Sequence[Observation], until: datetime) -> Bill:
    """One minute after the other, of those that begin before `until`."""
    bill: dict[tuple[int, str, date], tuple[int, Decimal]] = defaultdict(lambda: (0, Decimal(0)))
    end = int((until - script.base) / SECOND)
    reserved = script.reserved
    everything = [
        *((n, life.plan.sku, SIZES[life.plan.flavor], _in_use(script, life, end)) for n, life in enumerate(lives)),
        (len(lives), RESERVED, script.blocks * SIZES[BLOCK], [(reserved.start, reserved.end or end)]),
    ]
    for place, sku, machines, spans in everything:
        for second in _minutes(spans, end):
            month = (script.base + second * SECOND).date().replace(day=1)
            price = next(each.price for each in script.prices[sku] if holds(each, second))
            minutes, cost = bill[place, sku, month]
            bill[place, sku, month] = minutes + 1, cost + machines * price
    return bill


def _minutes(spans: Sequence[tuple[int, int]], end: int) -> Iterator[int]:
    """The seconds at which a minute begins that is to be paid; minutes are counted from the first one on."""
    first = min((start for start, _ in spans), default=end)
    for second in range(first, end, int(MINUTE / SECOND)):
        if any(start <= second < stop for start, stop in spans):
            yield second


def _in_use(script: Script, life: Observation, end: int) -> list[tuple[int, int]]:
    """When the cluster itself is to be paid: in use, and not of a reservation, which is paid instead until it ends."""
    spans, of_reservation = [], life.plan.kind == "reserved"
    for (start, state), (stop, _) in pairwise([*life.states, (end, "")]):
        if state not in {"creating", "active"}:
            of_reservation = False  # its machines are the reservation's again, and it gets others when it is resumed
        if state == "active":
            free_from = max(start, script.reserved.end or end) if of_reservation else start
            if free_from < stop:
                spans.append((free_from, stop))
    return spans
