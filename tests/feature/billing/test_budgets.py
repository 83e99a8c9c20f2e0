"""Budgets: their figures are the count of the minutes, and each threshold fires once a month."""

from __future__ import annotations

import asyncio
import itertools
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

import psycopg
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ipucloud.billing.budgets.evaluate import evaluate_budgets
from ipucloud.billing.budgets.store import NewBudget, Owner, Threshold, create
from ipucloud.db.engine import Database
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money
from tests.feature.billing.test_killed import in_billing_world, killed_at
from tests.feature.billing.test_live_agrees import HOURS, counted, record
from tests.feature.billing.test_oracle import FORGET
from tests.feature.billing.timelines import TIMELINES, Timeline
from tests.feature.billing.world import BillingWorld, at, open_billing_world
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

FIRED = """
SELECT to_char(month, 'YYYY-MM') AS month, measure, percent FROM budget_alerts ORDER BY month, measure, percent
"""
ANNOUNCED = """
SELECT data ->> 'month' AS month,
       CASE type WHEN 'budget.threshold_reached' THEN 'actual' ELSE 'forecast' END AS measure,
       (data ->> 'percent')::int AS percent
  FROM events WHERE type IN ('budget.threshold_reached', 'budget.forecast_reached') AND account_id IS NULL
 ORDER BY 1, 2, 3
"""
_FORGET = (*FORGET, "TRUNCATE budget_alerts, budget_suspensions, budget_thresholds, budgets")


async def budget(
    billing: BillingWorld,
    amount: str | Decimal,
    *thresholds: tuple[str, int],
    owner: Owner | None = None,
    tag: tuple[str, str] | None = None,
) -> UUID:
    limits = [
        Threshold("forecast" if measure == "forecast" else "actual", percent, None) for measure, percent in thresholds
    ]
    new = NewBudget(f"budget-{new_id()}", Money.of(amount, "EUR"), tag, limits)
    async with billing.database.begin() as connection:
        return await create(connection, owner or Owner("project", billing.project.id), new, None)


async def fired(billing: BillingWorld) -> list[tuple[str, str, int]]:
    """What fired, which is what was announced."""
    alerts, announced = [[tuple(row) for row in await billing.rows(statement)] for statement in (FIRED, ANNOUNCED)]
    assert alerts == announced
    return [(str(month), str(measure), int(percent)) for month, measure, percent in alerts]


async def test_a_threshold_fires_once_a_month_however_many_workers_evaluate_it(billing: BillingWorld) -> None:
    """A machine at 0.1 a minute: 6 an hour, 4,464 in May, 4,320 in June."""
    await billing.price("0.1")
    await billing.used(await billing.make_cluster(), at("2026-05-01T00:00:00"))
    await budget(billing, "12", ("actual", 50), ("actual", 100), ("forecast", 100))
    await budget(billing, "4464", ("forecast", 100), ("forecast", 101))
    billing.now(at("2026-05-01T00:59:00"))
    await evaluate_budgets(billing.database)
    before = [("2026-05", "forecast", 100)] * 2
    assert await fired(billing) == before
    billing.now(at("2026-05-01T01:00:00"))
    await asyncio.gather(*(evaluate_budgets(billing.database) for _ in range(4)))
    half = [("2026-05", "actual", 50), *before]
    assert await fired(billing) == half
    await billing.keep(at("2026-05-01T02:02:00"))
    all_of_may = [("2026-05", "actual", 50), ("2026-05", "actual", 100), *before]
    assert await fired(billing) == all_of_may
    billing.now(at("2026-06-01T00:30:00"))
    await evaluate_budgets(billing.database)
    assert await fired(billing) == [*all_of_may, ("2026-06", "forecast", 100)]
    [row] = await billing.rows("SELECT actual, forecast, month::text FROM budgets ORDER BY created_at LIMIT 1")
    assert tuple(row) == (3, 4320, "2026-06-01")


async def test_the_last_minute_of_a_month_counts_in_it(billing: BillingWorld) -> None:
    await billing.price("0.1")
    await billing.used(await billing.make_cluster(), at("2026-05-31T23:50:00"), at("2026-06-01T00:05:00"))
    await budget(billing, "1", ("actual", 100), ("forecast", 1))
    billing.now(at("2026-06-01T00:10:00"))
    await evaluate_budgets(billing.database)
    assert await fired(billing) == [("2026-05", "actual", 100), ("2026-06", "forecast", 1)]


@pytest.mark.parametrize("hit", [1, 2])
def test_a_worker_killed_while_it_evaluates_leaves_it_to_the_next(database: Scratch, hit: int) -> None:
    """Two months are evaluated, so there are two hits."""

    async def prepare(billing: BillingWorld) -> None:
        await billing.price("0.1")
        await billing.used(await billing.make_cluster(), at("2026-05-31T23:50:00"))
        await budget(billing, "1", ("actual", 50))
        billing.now(at("2026-06-01T00:30:00"))

    async def finish(billing: BillingWorld) -> list[tuple[str, str, int]]:
        for _ in range(2):
            await billing.keep()
        return await fired(billing)

    asyncio.run(in_billing_world(database, prepare))
    assert killed_at(database, "budgets.before_commit", hit)
    assert asyncio.run(in_billing_world(database, finish)) == [("2026-05", "actual", 50), ("2026-06", "actual", 50)]


async def example(scratch: Scratch, timelines: list[Timeline], change: int, percents: list[int]) -> None:
    """Budgets of a project, a tag, and two accounts of which the second pays from an hour on."""
    base, database = at("2026-05-05T10:00:00"), Database(scratch.app_url, pool_size=2)
    now = base + timedelta(hours=HOURS)
    try:
        billing = await open_billing_world(database, scratch.owner_url)
        own, other = billing.project.id, new_id()
        await billing.execute("INSERT INTO billing_accounts (id, name, currency) VALUES (:id, 'o', 'EUR')", id=other)
        since = base + timedelta(hours=change)
        await billing.execute(
            "INSERT INTO project_accounts (project_id, account_id, valid_from) VALUES (:project, :account, :since)",
            project=own,
            account=other,
            since=since,
        )
        billing.now(now)
        payers: list[tuple[datetime, UUID]] = [(base - timedelta(days=9), own), (since, other)]
        costs = []
        for place, timeline in enumerate(timelines):
            cluster = await record(billing, base, timeline, f"sku-{place}", now)
            if place % 2:
                await billing.execute('UPDATE clusters SET tags = \'{"team": "nlp"}\' WHERE id = :id', id=cluster)
            costs.append(counted(timeline, base, now, payers, own).by_payer)
        expected = {
            Owner("project", own): sum(itertools.chain(*(cost.values() for cost in costs)), start=Decimal(0)),
            Owner("account", own): sum((cost.get(own, Decimal(0)) for cost in costs), start=Decimal(0)),
            Owner("account", other): sum((cost.get(other, Decimal(0)) for cost in costs), start=Decimal(0)),
        }
        tagged = sum(itertools.chain(*(cost.values() for cost in costs[1::2])), start=Decimal(0))
        budgets = {
            await budget(billing, "100", *(("actual", p) for p in percents), owner=o): cost
            for o, cost in expected.items()
        }
        budgets[await budget(billing, "100", *(("actual", p) for p in percents), tag=("team", "nlp"))] = tagged
        await evaluate_budgets(database)
        figures = {row.id: row.actual for row in await billing.rows("SELECT id, actual FROM budgets")}
        alerts = await billing.rows("SELECT budget_id, percent FROM budget_alerts")
        events = await billing.rows(
            "SELECT subject_id, count(*) AS announced FROM events"
            " WHERE subject_type = 'budget' AND account_id IS NULL GROUP BY 1"
        )
    finally:
        await database.close()
    assert figures == budgets
    assert {(row.budget_id, row.percent) for row in alerts} == {
        (id_, percent) for id_, cost in budgets.items() for percent in percents if cost >= percent
    }
    # The first account pays for nothing any more: no project is notified of its budget.
    silent = next(id_ for id_, owner in zip(budgets, expected, strict=False) if owner == Owner("account", own))
    announced = {row.subject_id: row.announced for row in events}
    for id_, cost in budgets.items():
        reached = sum(cost >= percent for percent in percents)
        assert announced.get(id_, 0) == (0 if id_ == silent else reached)


@settings(
    max_examples=5,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    timelines=st.lists(TIMELINES, min_size=2, max_size=6),
    change=st.integers(1, HOURS - 1),
    percents=st.lists(st.integers(1, 1000), min_size=1, max_size=4, unique=True),
)
def test_figures_are_the_count_of_the_minutes(
    database: Scratch, timelines: list[Timeline], change: int, percents: list[int]
) -> None:
    with psycopg.connect(database.superuser_url) as connection:
        for statement in _FORGET:
            connection.execute(statement.encode())
    asyncio.run(example(database, timelines, change, percents))


async def test_the_database_lets_a_threshold_fire_once(billing: BillingWorld) -> None:
    budget_id = await budget(billing, "1", ("actual", 50))
    fire = "INSERT INTO budget_alerts VALUES (:id, '2026-05-01', 'actual', 50, :figure, 1)"
    await billing.execute(fire, id=budget_id, figure=1)
    with pytest.raises(sa.exc.IntegrityError, match="pk_budget_alerts"):
        await billing.execute(fire, id=budget_id, figure=1)
    with pytest.raises(sa.exc.IntegrityError, match="reached"):
        await billing.execute(fire.replace("50", "60"), id=budget_id, figure=Decimal("0.5"))
