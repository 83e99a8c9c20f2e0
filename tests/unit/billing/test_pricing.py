"""Charges agree with an oracle that walks minute by minute, whatever the timeline, the prices and the cuts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipucloud.billing.pricing.charge import (
    PriceBook,
    PriceKey,
    PriceMissingError,
    PriceOverlapError,
    PriceVersion,
    UsageInterval,
    charge,
    cost,
)

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
M2000 = PriceKey("ipu-m2000", "luxembourg-2", "EUR")
ACCOUNT = UUID(int=7)


def second(offset: int) -> datetime:
    return EPOCH + timedelta(seconds=offset)


def price(number: int, unit: str, start: int, end: int | None = None, account: UUID | None = None) -> PriceVersion:
    valid_to = None if end is None else second(end)
    return PriceVersion(UUID(int=number), M2000, Decimal(unit), second(start), valid_to, account)


@dataclass(frozen=True)
class Timeline:
    """One cluster's life in seconds from EPOCH: sizes[i] holds in [edges[i], edges[i+1]); size 0 is suspended."""

    edges: list[int]
    sizes: list[int]
    prices: list[PriceVersion]
    cuts: list[int]
    until: int

    def intervals(self) -> list[UsageInterval]:
        anchor = second(self.edges[0])
        spans = zip(pairwise(self.edges), self.sizes, strict=True)
        return [UsageInterval(anchor, M2000, size, second(a), second(b)) for (a, b), size in spans]


def version_lists(account: UUID | None, first: int) -> st.SearchStrategy[list[PriceVersion]]:
    def build(edges: list[int], units: list[int]) -> list[PriceVersion]:
        bounds = list(pairwise(sorted(edges)))
        return [
            price(first + number, str(Decimal(units[number]).scaleb(-4)), start, end, account)
            for number, (start, end) in enumerate(bounds)
        ]

    edges = st.lists(st.integers(-3600, 12_000), min_size=0, max_size=5, unique=True)
    return st.builds(build, edges, st.lists(st.integers(0, 2000), min_size=5, max_size=5))


@st.composite
def timelines(draw: st.DrawFn) -> Timeline:
    edges = sorted(draw(st.lists(st.integers(0, 9000), min_size=2, max_size=6, unique=True)))
    listed = price(1, str(Decimal(draw(st.integers(0, 2000))).scaleb(-4)), -7200)
    return Timeline(
        edges,
        draw(st.lists(st.integers(0, 256), min_size=len(edges) - 1, max_size=len(edges) - 1)),
        [listed, *draw(version_lists(ACCOUNT, 10))],
        draw(st.lists(st.integers(-100, 9100), max_size=8)),
        draw(st.integers(0, 9500)),
    )


def oracle(timeline: Timeline) -> tuple[int, Fraction]:
    """Billed minutes and cost, walking every minute of the life with nothing but comparisons."""
    billed, owed = 0, Fraction(0)
    for start in range(timeline.edges[0], min(timeline.edges[-1], timeline.until), 60):
        index = max(i for i, edge in enumerate(timeline.edges) if edge <= start)
        size = timeline.sizes[index]
        if size == 0:
            continue
        covering = [
            version
            for version in timeline.prices
            if version.valid_from <= second(start) and (version.valid_to is None or second(start) < version.valid_to)
        ]
        chosen = next((version for version in covering if version.account), covering[0])
        billed += 1
        owed += size * Fraction(chosen.unit_price)
    return billed, owed


@given(timelines())
def test_charges_agree_with_the_minute_by_minute_oracle(timeline: Timeline) -> None:
    charges = charge(
        timeline.intervals(),
        PriceBook(timeline.prices),
        until=second(timeline.until),
        account=ACCOUNT,
        cuts=[second(cut) for cut in timeline.cuts],
    )
    billed, owed = oracle(timeline)
    assert sum(part.minutes for part in charges) == billed
    assert Fraction(cost(charges)) == owed


@given(timelines())
def test_cuts_change_neither_minutes_nor_cost(timeline: Timeline) -> None:
    book, until = PriceBook(timeline.prices), second(timeline.until)
    whole = charge(timeline.intervals(), book, until=until)
    parts = charge(timeline.intervals(), book, until=until, cuts=[second(cut) for cut in timeline.cuts])
    assert cost(parts) == cost(whole)
    assert sum(part.minutes for part in parts) == sum(part.minutes for part in whole)


@given(timelines())
def test_charges_tile_the_billed_minutes(timeline: Timeline) -> None:
    cuts = [second(cut) for cut in timeline.cuts]
    charges = charge(timeline.intervals(), PriceBook(timeline.prices), until=second(timeline.until), cuts=cuts)
    for earlier, later in pairwise(charges):
        assert earlier.ended_at <= later.started_at
        assert earlier.first_minute + earlier.minutes <= later.first_minute
    if 0 not in timeline.sizes:
        assert all(a.first_minute + a.minutes == b.first_minute for a, b in pairwise(charges))


@given(timelines(), st.integers(0, 9500), st.integers(0, 9500))
def test_the_live_cost_only_grows(timeline: Timeline, a: int, b: int) -> None:
    book = PriceBook(timeline.prices)
    early, late = (cost(charge(timeline.intervals(), book, until=second(t))) for t in sorted((a, b)))
    assert early <= late


def test_an_open_interval_is_charged_up_to_now() -> None:
    usage = UsageInterval(second(0), M2000, 4, second(0))
    book = PriceBook([price(1, "0.0625", -1)])
    assert charge([usage], book, until=second(0)) == ()
    (first,) = charge([usage], book, until=second(1))
    assert (first.minutes, first.cost) == (1, Decimal("0.25"))
    (running,) = charge([usage], book, until=second(3661))
    assert (running.minutes, running.quantity, running.cost) == (62, 4, Decimal("15.5"))


def test_resume_between_two_minutes_is_billed_from_the_next() -> None:
    book = PriceBook([price(1, "0.0625", -1)])
    suspended = [
        UsageInterval(second(0), M2000, 1, second(0), second(130)),
        UsageInterval(second(0), M2000, 1, second(190), second(300)),
    ]
    # Minutes start at 0, 60, 120 | 180 passes suspended | 240.
    assert [(part.first_minute, part.minutes) for part in charge(suspended, book, until=second(300))] == [
        (0, 3),
        (4, 1),
    ]


def test_a_contract_price_goes_before_the_list_and_ends_back_at_it() -> None:
    book = PriceBook([price(1, "0.10", 0), price(2, "0.05", 60, 120, ACCOUNT)])
    usage = [UsageInterval(second(0), M2000, 1, second(0), second(180))]
    assert [part.unit_price for part in charge(usage, book, until=second(180), account=ACCOUNT)] == [
        Decimal("0.10"),
        Decimal("0.05"),
        Decimal("0.10"),
    ]
    assert [part.minutes for part in charge(usage, book, until=second(180))] == [3]


def test_a_list_price_change_under_a_contract_does_not_split_a_charge() -> None:
    book = PriceBook([price(1, "0.10", 0, 90), price(2, "0.20", 90), price(3, "0.05", 0, None, ACCOUNT)])
    usage = [UsageInterval(second(0), M2000, 1, second(0), second(180))]
    assert [part.minutes for part in charge(usage, book, until=second(180), account=ACCOUNT)] == [3]


def test_a_minute_without_a_price_is_an_error_not_a_gift() -> None:
    usage = [UsageInterval(second(0), M2000, 1, second(0), second(180))]
    with pytest.raises(PriceMissingError, match="ipu-m2000 has no price in EUR in luxembourg-2"):
        charge(usage, PriceBook([price(1, "0.10", 0, 90)]), until=second(180))


def test_overlapping_prices_are_refused() -> None:
    with pytest.raises(PriceOverlapError):
        PriceBook([price(1, "0.10", 0), price(2, "0.20", 50)])
    with pytest.raises(PriceOverlapError):
        PriceBook([price(1, "0.10", 0, 51), price(2, "0.20", 50)])
    PriceBook([price(1, "0.10", 0, 50), price(2, "0.20", 50), price(3, "0.01", 0, None, ACCOUNT)])


def test_a_price_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(ValueError, match="ends before it starts"):
        price(1, "0.10", 50, 50)


def test_an_estimate_is_what_the_same_time_will_cost() -> None:
    book = PriceBook([price(1, "0.0625", 0)])
    rate = book.rate(M2000, 4, second(0))
    assert (rate.per_minute, rate.per_hour) == (Decimal("0.25"), Decimal("15"))
    assert (rate.per_day, rate.per_month) == (Decimal("360"), Decimal("10950"))
    day = [UsageInterval(second(0), M2000, 4, second(0), second(86_400))]
    assert cost(charge(day, book, until=second(86_400))) == rate.per_day
