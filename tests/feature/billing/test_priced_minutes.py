"""The arithmetic of every bill: minutes of a life and what they cost, against a walk over the minutes one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import pairwise

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipucloud.billing.pricing.hour import RATED
from ipucloud.billing.pricing.usage import PAID, SO_FAR
from ipucloud.billing.reports.outlook import outlook
from ipucloud.db.documents import clauses
from tests.feature.billing.timelines import BASES, MINUTE, SECOND
from tests.support.factories import LONG_AGO
from tests.support.postgres import TestServer

ZONES = ["UTC", "Europe/Luxembourg", "America/St_Johns", "Pacific/Apia", "Asia/Kathmandu"]
PRICED = """
SELECT first_minute, minutes, cost
  FROM priced_minutes(%(origin)s, %(since)s, %(until)s, %(valid_from)s, %(valid_to)s, %(quantity)s, %(unit_price)s)
"""
BETWEEN = "SELECT minutes_between(%(origin)s, %(since)s, %(until)s)"
Row = tuple[int, int, Decimal]


@dataclass(frozen=True, slots=True)
class Use:
    """Machines in [since, until) of a life that began at `origin`, at a price in force in [valid_from, valid_to)."""

    origin: datetime
    since: datetime
    until: datetime
    valid_from: datetime = LONG_AGO
    valid_to: datetime | None = None
    quantity: int = 1
    unit_price: Decimal = Decimal("0.0625")


@pytest.fixture(scope="module")
def session(postgres: TestServer) -> Iterator[psycopg.Connection]:
    with (
        postgres.fresh_database() as database,
        psycopg.connect(database.app_url, autocommit=True) as connection,
    ):
        yield connection


def priced(session: psycopg.Connection, use: Use) -> Row:
    parameters = {name: getattr(use, name) for name in Use.__slots__}
    row = session.execute(PRICED, parameters).fetchone()
    assert row is not None
    first, minutes, cost = row
    return first, minutes, cost


def walked(use: Use) -> Row:
    """Every minute of the life that begins in the span, with nothing but comparisons."""
    begins, ends = max(use.since, use.valid_from), min(use.until, use.valid_to or use.until)
    before = minutes = 0
    minute = use.origin
    while minute < max(begins, ends):
        before += minute < begins
        minutes += begins <= minute < ends
        minute += MINUTE
    return before, minutes, minutes * use.quantity * use.unit_price


@st.composite
def uses(draw: st.DrawFn) -> Use:
    base = draw(st.sampled_from(BASES))
    moments = st.integers(-3600, 5 * 3600).map(lambda offset: base + offset * SECOND)
    since, until = sorted(draw(st.tuples(moments, moments)))
    return Use(
        origin=since - draw(st.integers(0, 7300)) * SECOND,
        since=since,
        until=until,
        valid_from=draw(moments),
        valid_to=draw(st.none() | moments),
        quantity=draw(st.integers(1, 256)),
        unit_price=draw(st.decimals(min_value=0, max_value=9, places=10)),
    )


@settings(max_examples=300)
@given(use=uses(), zone=st.sampled_from(ZONES))
def test_priced_minutes_are_those_that_begin_in_the_span(session: psycopg.Connection, use: Use, zone: str) -> None:
    session.execute("SELECT set_config('TimeZone', %s, false)", [zone])
    assert priced(session, use) == walked(use)


@settings(max_examples=100)
@given(offsets=st.lists(st.integers(-86_400, 30 * 86_400), min_size=2, max_size=9), seconds=st.integers(0, 10_000_000))
def test_any_cuts_of_a_life_hold_its_minutes(session: psycopg.Connection, offsets: list[int], seconds: int) -> None:
    def between(since: int, until: int) -> int:
        span = {"origin": LONG_AGO, "since": LONG_AGO + since * SECOND, "until": LONG_AGO + until * SECOND}
        [minutes] = session.execute(BETWEEN, span).fetchone() or ()
        return int(minutes)

    cuts = sorted(offsets)
    assert sum(between(*part) for part in pairwise(cuts)) == between(cuts[0], cuts[-1])
    assert between(0, seconds) == -(-seconds // 60)
    assert between(seconds, 0) == 0


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param(
            clauses("WITH page AS (SELECT * FROM clusters)", PAID, "SELECT usage.* FROM page", SO_FAR), id="live"
        ),
        pytest.param(clauses("WITH", RATED.replace(":hour", "'2026-05-01Z'"), "SELECT * FROM rated"), id="close"),
        pytest.param(
            clauses(
                "WITH chosen AS (SELECT id AS project_id FROM projects),",
                outlook("now()", "now()"),
                "SELECT * FROM outlook",
            ),
            id="forecast",
        ),
    ],
)
def test_the_planner_inlines_the_arithmetic(session: psycopg.Connection, statement: str) -> None:
    """A call for each row would cost more than the arithmetic."""
    plan = "\n".join(row[0] for row in session.execute(clauses("EXPLAIN (VERBOSE)", statement).encode()))
    assert "date_part" in plan
    assert "minutes_b" not in plan
    assert "Function Scan on public" not in plan


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT payer.account_id FROM projects p CROSS JOIN LATERAL payer_of(p.id, now()) AS payer",
        "SELECT paid.project_id FROM billing_accounts a CROSS JOIN LATERAL projects_paid_by(a.id) AS paid",
    ],
)
def test_the_planner_inlines_who_pays(session: psycopg.Connection, statement: str) -> None:
    plan = "\n".join(row[0] for row in session.execute(clauses("EXPLAIN (VERBOSE)", statement).encode()))
    assert "project_accounts" in plan
    assert "Function Scan" not in plan
