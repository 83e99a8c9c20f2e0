"""Minutes and cost inside a statement are those of the pure arithmetic, whatever the timeline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from uuid import UUID

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ipucloud.billing.metering.minutes import minutes_between
from ipucloud.billing.metering.tables import usage_intervals
from ipucloud.billing.pricing.charge import (
    PriceBook,
    PriceKey,
    PriceMissingError,
    PriceVersion,
    UsageInterval,
    charge,
    cost,
)
from ipucloud.billing.pricing.tables import prices
from ipucloud.billing.pricing.usage import PAID, SO_FAR
from ipucloud.clusters.tables import clusters
from ipucloud.db.documents import clauses
from ipucloud.db.engine import sqlalchemy_url
from ipucloud.identity.tables import projects
from ipucloud.kernel.ids import new_id
from tests.support.postgres import Database as Scratch

BASE = datetime(2026, 3, 28, 22, 0, tzinfo=UTC)
"""Hours before the clocks change in Europe."""
KEY = PriceKey("ipu-m2000", "luxembourg-2", "EUR")
PROJECT, CLUSTER = new_id(), new_id()
FIGURES = sa.text(
    clauses(
        "WITH page AS (SELECT clusters.* FROM clusters)",
        PAID,
        "SELECT usage.minutes, usage.cost, usage.running FROM page",
        SO_FAR,
    )
)
# The clock of a session, so that every example has its own in a transaction that is rolled back.
SESSION_CLOCK = """
CREATE OR REPLACE FUNCTION app_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT current_setting('test.now')::timestamptz $$
"""


@dataclass(frozen=True)
class Timeline:
    """Intervals in time order, the last one perhaps open; price versions, perhaps with gaps; and the present."""

    usage: tuple[UsageInterval, ...]
    versions: tuple[PriceVersion, ...]
    now: datetime
    zone: str


seconds = st.integers(0, 6 * 3600)
amounts = st.decimals(Decimal(0), Decimal(10), places=10)
zones = st.sampled_from(["UTC", "Asia/Kathmandu", "America/New_York", "Europe/Berlin"])


def moment(second: int) -> datetime:
    return BASE + timedelta(seconds=second)


@st.composite
def timelines(draw: st.DrawFn) -> Timeline:
    marks = [moment(second) for second in sorted(draw(st.lists(seconds, min_size=1, max_size=7, unique=True)))]
    anchor = marks[0] - timedelta(seconds=draw(st.sampled_from([0, 0, 1, 59, 60, 61, 3600])))
    pairs = list(zip(marks[::2], [*marks[1::2], None][: len(marks[::2])], strict=True))
    usage = tuple(UsageInterval(anchor, KEY, draw(st.integers(1, 16)), start, end) for start, end in pairs)
    now = max(marks) + timedelta(seconds=draw(st.integers(0, 4000)))
    return Timeline(usage, draw(price_versions()), now, draw(zones))


@st.composite
def price_versions(draw: st.DrawFn) -> tuple[PriceVersion, ...]:
    cuts = [moment(second) for second in sorted(draw(st.lists(seconds, max_size=4, unique=True)))]
    edges: list[datetime | None] = [BASE - timedelta(days=9), *cuts, None]
    versions = []
    for start, end in pairwise(edges):
        if start is not None and draw(st.integers(0, 9)) > 0:
            versions.append(PriceVersion(new_id(), KEY, draw(amounts), start, end))
    return tuple(versions)


@pytest.fixture
def bare(database: Scratch) -> Iterator[sa.Connection]:
    """A database with one cluster and nothing that it used."""
    engine = sa.create_engine(sqlalchemy_url(database.owner_url))
    with engine.connect() as connection:
        connection.execute(sa.text(SESSION_CLOCK))
        connection.execute(sa.text("SET test.now = '2026-01-01T00:00:00Z'"))
        connection.execute(sa.insert(projects).values(id=PROJECT, slug="p", name="P"))
        connection.execute(sa.insert(clusters).values(cluster_row()))
        connection.commit()
        yield connection
    engine.dispose()


def cluster_row() -> dict[str, object]:
    columns = {"name": "c", "region": KEY.region, "flavor": "f", "machine_type": "m2000", "machines": 1, "ipus": 4}
    return columns | {
        "id": CLUSTER,
        "project_id": PROJECT,
        "sku": KEY.sku,
        "currency": KEY.currency,
        "image": "i",
        "state": "active",
        "external_name": "e",
    }


def interval_row(usage: UsageInterval) -> dict[str, object]:
    return {
        "id": new_id(),
        "project_id": PROJECT,
        "cluster_id": CLUSTER,
        **usage.key._asdict(),
        "quantity": usage.quantity,
        "anchor_at": usage.anchor_at,
        "started_at": usage.started_at,
        "ended_at": usage.ended_at,
    }


def price_row(version: PriceVersion) -> dict[str, object]:
    span = {"valid_from": version.valid_from, "valid_to": version.valid_to}
    return {"id": version.id, **version.key._asdict(), "unit_price": version.unit_price, "source": "test", **span}


def figures(connection: sa.Connection, timeline: Timeline) -> tuple[int, Decimal | None, bool]:
    """What the statement says of the timeline, which is forgotten afterwards."""
    try:
        connection.execute(
            sa.text("SELECT set_config('test.now', :now, true), set_config('timezone', :zone, true)"),
            {"now": timeline.now.isoformat(), "zone": timeline.zone},
        )
        connection.execute(sa.insert(usage_intervals), [interval_row(usage) for usage in timeline.usage])
        if timeline.versions:
            connection.execute(sa.insert(prices), [price_row(version) for version in timeline.versions])
        row = connection.execute(FIGURES).one()
        return row.minutes, row.cost, row.running
    finally:
        connection.rollback()


@given(timeline=timelines())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_statement_agrees_with_the_pure_arithmetic(bare: sa.Connection, timeline: Timeline) -> None:
    minutes, money, running = figures(bare, timeline)
    assert running == (timeline.usage[-1].ended_at is None)
    assert minutes == sum(
        minutes_between(usage.anchor_at, usage.started_at, usage.ended_at or timeline.now) for usage in timeline.usage
    )
    try:
        expected = cost(charge(timeline.usage, PriceBook(timeline.versions), until=timeline.now))
    except PriceMissingError:
        assert money is None
    else:
        assert money == expected


def test_the_documented_resize_costs_what_the_book_says(bare: sa.Connection) -> None:
    """Four machines, then eight, then a new price: 21 minutes, 8.05 EUR (the first worked example)."""
    start, resize, change, end = (
        datetime.fromisoformat(text)
        for text in (
            "2026-03-31T23:59:30Z",
            "2026-04-01T00:10:10Z",
            "2026-04-01T00:15:00Z",
            "2026-04-01T00:20:01Z",
        )
    )
    usage = (UsageInterval(start, KEY, 4, start, resize), UsageInterval(start, KEY, 8, resize, end))
    versions = (
        PriceVersion(UUID(int=1), KEY, Decimal("0.0625"), BASE, change),
        PriceVersion(UUID(int=2), KEY, Decimal("0.0700"), change),
    )
    timeline = Timeline(usage, versions, end + timedelta(days=40), "America/New_York")
    assert figures(bare, timeline) == (21, Decimal("8.05"), False)
