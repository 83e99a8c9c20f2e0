"""Random lives of clusters, and what they come to counted minute by minute."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.feature.billing.world import BillingWorld, at

ONE_DATABASE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
"""All examples of a property share a test's database; each takes away what those before it left."""
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
SPAN = 5 * 3600
"""Seconds from the base within which everything happens."""
BASES = [
    at("2026-03-31T21:00:00"),  # the end of a quarter
    at("2026-03-28T22:30:00"),  # clocks change in Europe
    at("2026-10-24T22:00:00"),
    at("2024-02-28T20:00:00"),  # a leap day
    at("2024-02-29T21:00:00"),
    at("2026-12-31T21:15:00"),  # the end of a year
]


@dataclass(frozen=True, slots=True)
class Segment:
    """`quantity` machines in [start, end), in seconds, `credited` of which are not billed.

    It is recorded `delay` rounds of the books later than it happened.
    """

    start: int
    end: int | None
    quantity: int
    credited: int
    delay: int


@dataclass(frozen=True, slots=True)
class Version:
    """A price in [start, end), in seconds; `end` None: for ever."""

    start: int
    end: int | None
    price: Decimal


@dataclass(frozen=True, slots=True)
class Timeline:
    """A cluster's segments in time order, list prices and contract prices of its own article."""

    segments: tuple[Segment, ...]
    prices: tuple[Version, ...]
    contract: tuple[Version, ...]


_EDGE = st.integers(0, SPAN)
_PRICE = st.decimals(min_value=0, max_value=9, places=10, allow_nan=False)


@st.composite
def _segments(draw: st.DrawFn) -> tuple[Segment, ...]:
    edges = sorted(draw(st.lists(_EDGE, min_size=2, max_size=6, unique=True)))
    segments: list[Segment] = []
    for start, end in pairwise(edges):
        if not segments or draw(st.integers(0, 3)):
            quantity = draw(st.integers(1, 64))
            credited = draw(st.one_of(st.just(0), st.integers(0, quantity)))
            segments.append(Segment(start, end, quantity, credited, draw(st.sampled_from([0, 0, 0, 1, 2]))))
    if draw(st.booleans()):
        last = segments[-1]
        segments[-1] = replace(last, end=None)
    return tuple(segments)


@st.composite
def _versions(draw: st.DrawFn, *, most: int) -> tuple[Version, ...]:
    edges = sorted(draw(st.lists(_EDGE, min_size=2, max_size=2 * most, unique=True)))
    pairs = list(zip(edges[::2], edges[1::2], strict=False))
    return tuple(Version(start, end, draw(_PRICE)) for start, end in pairs)


@st.composite
def _book(draw: st.DrawFn) -> tuple[Version, ...]:
    """Mostly prices for all of the time; sometimes with gaps."""
    if draw(st.integers(0, 4)) == 0:
        return draw(_versions(most=3))
    edges = [-SPAN, *sorted(draw(st.lists(_EDGE, max_size=3, unique=True))), None]
    return tuple(Version(start, end, draw(_PRICE)) for start, end in pairwise(edges) if start is not None)


TIMELINES = st.builds(
    Timeline,
    segments=_segments(),
    prices=_book(),
    contract=st.one_of(st.just(()), st.just(()), _versions(most=2)),
)

Bill = Mapping[date, tuple[int, Decimal]]


def counted(timeline: Timeline, base: datetime, until: datetime) -> Bill:
    """Minutes and cost by month, of the minutes that start before `until` and have a price: one after the other."""
    bill: dict[date, tuple[int, Decimal]] = defaultdict(lambda: (0, Decimal(0)))
    minute = base + timeline.segments[0].start * SECOND
    while minute < until:
        offset = int((minute - base) / SECOND)
        segment = next((each for each in timeline.segments if holds(each, offset)), None)
        price = _in_force(timeline, offset)
        if segment is not None and price is not None:
            month = minute.date().replace(day=1)
            minutes, cost = bill[month]
            bill[month] = minutes + 1, cost + (segment.quantity - segment.credited) * price
        minute += MINUTE
    return bill


def _in_force(timeline: Timeline, offset: int) -> Decimal | None:
    for versions in (timeline.contract, timeline.prices):
        for version in versions:
            if holds(version, offset):
                return version.price
    return None


async def install(billing: BillingWorld, base: datetime, timeline: Timeline, sku: str) -> None:
    """The timeline's prices, as those of the article."""
    for versions, account in ((timeline.prices, None), (timeline.contract, billing.project.id)):
        for each in versions:
            end = None if each.end is None else base + each.end * SECOND
            await billing.price(each.price, base + each.start * SECOND, end, sku=sku, account=account)


def holds(span: Segment | Version, offset: int) -> bool:
    return span.start <= offset and (span.end is None or offset < span.end)
