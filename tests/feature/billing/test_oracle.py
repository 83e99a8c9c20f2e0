"""What is posted is what an independent count, minute by minute, comes to; however the hours were closed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import psycopg
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from ipucloud.kernel.ids import new_id
from tests.feature.billing.timelines import (
    BASES,
    ONE_DATABASE,
    SECOND,
    SPAN,
    TIMELINES,
    Bill,
    Segment,
    Timeline,
    counted,
    install,
)
from tests.feature.billing.world import BillingWorld, in_billing_world
from tests.support.postgres import Database as Scratch

EXAMPLES = int(os.environ.get("BILLING_EXAMPLES", "10"))
"""Each holds up to twenty timelines, at least twelve in a long run: 850 examples make 10,000."""
LONG = EXAMPLES > 100
ROUNDS = 3
WINDOW = timedelta(seconds=SPAN) + timedelta(hours=2)
# Time goes back between two examples: months that were sealed later must be open again.
FORGET = (
    "SET session_replication_role = replica",
    """
    DO $$ DECLARE partition regclass; BEGIN
      FOR partition IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'usage_charges'::regclass LOOP
        EXECUTE format('DROP TABLE %s', partition);
      END LOOP;
    END $$
    """,
    "TRUNCATE ledger_transfers, ledger_accounts, hour_closes, dirty_hours, billing_months, usage_intervals, prices,"
    " contract_prices CASCADE",
)
_INTERVAL = sa.text(
    """
    INSERT INTO usage_intervals (id, project_id, resource_id, flavor, sku, region, currency, quantity, credited,
                                 anchor_at, started_at, ended_at)
    VALUES (:id, :project, :cluster, 'm2000-pod4', :sku, 'luxembourg-2', 'EUR', :quantity, :credited, :anchor, :start,
            :end)
    """
)
_END = sa.text("UPDATE usage_intervals SET ended_at = :end WHERE id = :id AND ended_at IS NULL")
_POSTED = """
SELECT resource_id, billing_month, sum(minutes), sum(cost) FROM usage_charges GROUP BY resource_id, billing_month
HAVING sum(minutes) <> 0 OR sum(cost) <> 0
"""


class Recorder:
    """Records in the database a timeline's facts, as far as they are known at an instant."""

    def __init__(self, billing: BillingWorld, base: datetime, timeline: Timeline, cluster: UUID, sku: str) -> None:
        self._billing, self._base, self._timeline, self._cluster, self._sku = billing, base, timeline, cluster, sku
        self._known: dict[Segment, UUID] = {}

    async def prices(self) -> None:
        await install(self._billing, self._base, self._timeline, self._sku)

    async def record(self, round_: int, now: datetime) -> None:
        """Every segment that began, and ended if it did, unless it is recorded in a later round."""
        anchor = self._base + self._timeline.segments[0].start * SECOND
        async with self._billing.database.begin() as connection:
            for segment in self._timeline.segments:
                start = self._base + segment.start * SECOND
                end = None if segment.end is None else self._base + segment.end * SECOND
                ended = end if end is not None and end <= now else None
                if start > now or (segment.delay > round_ and round_ < ROUNDS):
                    continue
                if segment in self._known:
                    if ended is not None:
                        await connection.execute(_END, {"id": self._known[segment], "end": ended})
                    continue
                self._known[segment] = new_id()
                values = {
                    "id": self._known[segment],
                    "project": self._billing.project.id,
                    "cluster": self._cluster,
                    "sku": self._sku,
                    "quantity": segment.quantity,
                    "credited": segment.credited,
                    "anchor": anchor,
                    "start": start,
                    "end": ended,
                }
                await connection.execute(_INTERVAL, values)


def anew(scratch: Scratch, work: Callable[[BillingWorld], Awaitable[object]], *more: str) -> None:
    """An example: the work in a billing world, after what those before it posted was taken away."""
    with psycopg.connect(scratch.superuser_url) as connection:
        for statement in (*FORGET, *more):
            connection.execute(statement.encode())
    asyncio.run(in_billing_world(scratch, work))


async def posted(
    billing: BillingWorld, base: datetime, timelines: list[Timeline], closes: list[int]
) -> dict[UUID, Bill]:
    """Live through the timelines with closes of the books at these seconds and at the end; the bills by cluster."""
    clusters = [await billing.make_cluster() for _ in timelines]
    named = enumerate(zip(timelines, clusters, strict=True))
    recorders = [Recorder(billing, base, timeline, cluster, f"sku-{place}") for place, (timeline, cluster) in named]
    for recorder in recorders:
        await recorder.prices()
    instants = [*(base + close * SECOND for close in sorted(closes)), base + WINDOW]
    for round_, now in enumerate(instants):
        last = ROUNDS if now is instants[-1] else round_
        for recorder in recorders:
            await recorder.record(last, now)
        await billing.keep(now)
    bills: dict[UUID, dict[date, tuple[int, Decimal]]] = {cluster: {} for cluster in clusters}
    for cluster, month, minutes, cost in await billing.rows(_POSTED):
        bills[cluster][month] = minutes, cost
    return dict(bills)


async def example(billing: BillingWorld, base: datetime, timelines: list[Timeline], closes: list[int]) -> None:
    bills = await posted(billing, base, timelines, closes)
    balance = "SELECT coalesce(sum(debits - credits), 0) FROM ledger_accounts WHERE code = 'unbilled'"
    # Hours are closed a minute after their end: what is closed at the end of the window is all up to this instant.
    closed = (base + WINDOW - timedelta(seconds=60)).replace(minute=0, second=0)
    expected = [dict(counted(timeline, base, closed)) for timeline in timelines]
    assert [dict(bill) for bill in bills.values()] == [
        {month: figures for month, figures in bill.items() if figures[0]} for bill in expected
    ]
    assert await billing.value(balance) == sum((cost for bill in expected for _, cost in bill.values()), Decimal(0))


@settings(ONE_DATABASE, max_examples=EXAMPLES)
@given(
    base=st.sampled_from(BASES),
    timelines=st.lists(TIMELINES, min_size=12 if LONG else 1, max_size=20),
    closes=st.lists(st.integers(0, SPAN), max_size=ROUNDS - 1, unique=True),
)
def test_billing_agrees_with_a_count_of_minutes(
    database: Scratch, base: datetime, timelines: list[Timeline], closes: list[int]
) -> None:
    anew(database, lambda billing: example(billing, base, timelines, closes))
