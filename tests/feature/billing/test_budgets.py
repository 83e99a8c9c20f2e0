"""Budgets: their figures are the count of the minutes, and each threshold fires once a month."""

from __future__ import annotations

import asyncio
import itertools
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from ipucloud.billing.budgets.evaluate import evaluate_budgets
from ipucloud.billing.budgets.store import NewBudget, Owner, Threshold, create
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money
from tests.feature.billing.test_killed import killed_at
from tests.feature.billing.test_live_agrees import HOURS, counted, other_account, record
from tests.feature.billing.test_oracle import anew
from tests.feature.billing.timelines import ONE_DATABASE, TIMELINES, Timeline
from tests.feature.billing.world import BillingWorld, at, in_billing_world
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
    alerts: list[tuple[str, str, int]] = await billing.tuples(FIRED)
    assert alerts == await billing.tuples(ANNOUNCED)
    return alerts


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


@pytest.mark.parametrize("hit", [1, 2])
def test_a_worker_killed_while_it_evaluates_leaves_it_to_the_next(database: Scratch, hit: int) -> None:
    """Two months are evaluated, so there are two hits."""

    async def prepare(billing: BillingWorld) -> None:
        await billing.price("0.1")
        await billing.used(await billing.make_cluster(), at("2026-05-31T23:50:00"))
        await budget(billing, "1", ("actual", 100))  # what May's ten minutes come to
        billing.now(at("2026-06-01T00:30:00"))

    async def finish(billing: BillingWorld) -> list[tuple[str, str, int]]:
        for _ in range(2):
            await billing.keep()
        return await fired(billing)

    asyncio.run(in_billing_world(database, prepare))
    assert killed_at(database, "budgets.before_commit", hit)
    assert asyncio.run(in_billing_world(database, finish)) == [("2026-05", "actual", 100), ("2026-06", "actual", 100)]


async def example(billing: BillingWorld, timelines: list[Timeline], change: int, percents: list[int]) -> None:
    """Budgets of a project, a tag, and two accounts of which the second pays from an hour on."""
    base = at("2026-05-05T10:00:00")
    now, since = base + timedelta(hours=HOURS), base + timedelta(hours=change)
    own, other = billing.project.id, await other_account(billing)
    await billing.pays(other, since)
    billing.now(now)
    payers: list[tuple[datetime, UUID]] = [(base - timedelta(days=9), own), (since, other)]
    costs = []
    for place, timeline in enumerate(timelines):
        cluster = await record(billing, base, timeline, f"sku-{place}", now)
        if place % 2:
            await billing.execute('UPDATE clusters SET tags = \'{"team": "nlp"}\' WHERE id = :id', id=cluster)
        costs.append(counted(timeline, base, now, payers, own).by_payer)
    everything = sum(itertools.chain(*(cost.values() for cost in costs)), start=Decimal(0))
    of_own, of_other = (sum((cost.get(payer, Decimal(0)) for cost in costs), Decimal(0)) for payer in (own, other))
    tagged = sum(itertools.chain(*(cost.values() for cost in costs[1::2])), start=Decimal(0))
    limits = [("actual", percent) for percent in percents]
    silent = await budget(billing, "100", *limits, owner=Owner("account", own))
    budgets = {
        silent: of_own,
        await budget(billing, "100", *limits): everything,
        await budget(billing, "100", *limits, owner=Owner("account", other)): of_other,
        await budget(billing, "100", *limits, tag=("team", "nlp")): tagged,
    }
    await evaluate_budgets(billing.database)
    assert dict(await billing.tuples("SELECT id, actual FROM budgets")) == budgets
    assert set(await billing.tuples("SELECT budget_id, percent FROM budget_alerts")) == {
        (id_, percent) for id_, cost in budgets.items() for percent in percents if cost >= percent
    }
    announced = dict(
        await billing.tuples(
            "SELECT subject_id, count(*) FROM events WHERE subject_type = 'budget' AND account_id IS NULL GROUP BY 1"
        )
    )
    # The first account pays for nothing any more: no project is notified of its budget.
    for id_, cost in budgets.items():
        reached = sum(cost >= percent for percent in percents)
        assert announced.get(id_, 0) == (0 if id_ == silent else reached)


@settings(ONE_DATABASE, max_examples=5)
@given(
    timelines=st.lists(TIMELINES, min_size=2, max_size=6),
    change=st.integers(1, HOURS - 1),
    percents=st.lists(st.integers(1, 1000), min_size=1, max_size=4, unique=True),
)
def test_figures_are_the_count_of_the_minutes(
    database: Scratch, timelines: list[Timeline], change: int, percents: list[int]
) -> None:
    forgotten = "TRUNCATE budget_alerts, budget_suspensions, budget_thresholds, budgets"
    anew(database, lambda billing: example(billing, timelines, change, percents), forgotten)


async def test_the_database_lets_a_threshold_fire_once(billing: BillingWorld) -> None:
    budget_id = await budget(billing, "1", ("actual", 50))
    fire = "INSERT INTO budget_alerts VALUES (:id, '2026-05-01', 'actual', 50, :figure, 1)"
    await billing.execute(fire, id=budget_id, figure=1)
    with pytest.raises(sa.exc.IntegrityError, match="pk_budget_alerts"):
        await billing.execute(fire, id=budget_id, figure=1)
    with pytest.raises(sa.exc.IntegrityError, match="reached"):
        await billing.execute(fire.replace("50", "60"), id=budget_id, figure=Decimal("0.5"))
