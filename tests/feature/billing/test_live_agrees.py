"""Live figures are what the close posts for the same time, to the last digit: contracts, price changes, payers.

Three answers (a list's statement, a cluster's usage, the month's outlook) and the posted charges are held against a
count of the minutes one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from ipucloud.billing.pricing.usage import PAID, SO_FAR, cluster_usage
from ipucloud.billing.reports.outlook import OUTLOOK
from ipucloud.billing.reports.report import report
from ipucloud.billing.reports.summary import project_spending
from ipucloud.db.documents import clauses
from ipucloud.kernel.errors import NOT_CONFIGURED, Problem
from ipucloud.kernel.ids import new_id
from tests.feature.billing.test_oracle import anew
from tests.feature.billing.timelines import (
    BASES,
    MINUTE,
    ONE_DATABASE,
    SECOND,
    TIMELINES,
    Segment,
    Timeline,
    holds,
    install,
)
from tests.feature.billing.world import CURRENCY, REGION, BillingWorld
from tests.support.postgres import Database as Scratch

HOURS = 6
"""From the base's hour until everything that happens has happened."""
_FIGURES = sa.text(
    clauses(
        "WITH page AS (SELECT clusters.* FROM clusters WHERE id = :id)",
        PAID,
        "SELECT usage.minutes, usage.cost, usage.running FROM page",
        SO_FAR,
    )
)
_OUTLOOK = sa.text(
    clauses(
        "WITH chosen AS (SELECT CAST(:project AS uuid) AS project_id),",
        OUTLOOK,
        "SELECT resource_id, sum(accrued_minutes) AS minutes, sum(accrued) AS cost FROM outlook GROUP BY resource_id",
    )
)
_INTERVAL = """
INSERT INTO usage_intervals (id, project_id, resource_id, flavor, sku, region, currency, quantity, credited,
                             anchor_at, started_at, ended_at)
VALUES (:id, :project, :cluster, :flavor, :sku, :region, :currency, :quantity, :credited, :anchor, :start, :end)
"""
_POSTED = "SELECT resource_id, sum(minutes) AS minutes, sum(cost) AS cost FROM usage_charges GROUP BY resource_id"
_BY_PAYER = "SELECT account_id, sum(cost) AS cost FROM usage_charges GROUP BY account_id"


@dataclass(frozen=True, slots=True)
class Count:
    """Minutes that began, those of them that have a price, and their cost by payer."""

    minutes: int
    priced: int
    by_payer: dict[UUID, Decimal]
    by_flavor: dict[tuple[str, str], Decimal]
    """By month and flavor."""

    @property
    def cost(self) -> Decimal:
        return sum(self.by_payer.values(), start=Decimal(0))


def flavor_of(segment: Segment) -> str:
    return f"of-{segment.quantity}"


def counted(
    timeline: Timeline, base: datetime, until: datetime, payers: list[tuple[datetime, UUID]], own: UUID
) -> Count:
    """One minute after the other; the contract is that of `own`."""
    minutes = priced = 0
    by_payer: dict[UUID, Decimal] = {}
    by_flavor: dict[tuple[str, str], Decimal] = {}
    instant = base + timeline.segments[0].start * SECOND
    while instant < until:
        offset = int((instant - base) / SECOND)
        segment = next((each for each in timeline.segments if holds(each, offset)), None)
        payer = [account for since, account in payers if since <= instant][-1]
        versions = (*(timeline.contract if payer == own else ()), *timeline.prices)
        price = next((each.price for each in versions if holds(each, offset)), None)
        minutes += segment is not None
        if segment is not None and price is not None:
            priced += 1
            cost = (segment.quantity - segment.credited) * price
            by_payer[payer] = by_payer.get(payer, Decimal(0)) + cost
            used = f"{instant:%Y-%m}", flavor_of(segment)
            by_flavor[used] = by_flavor.get(used, Decimal(0)) + cost
        instant += MINUTE
    return Count(minutes, priced, by_payer, by_flavor)


async def record(billing: BillingWorld, base: datetime, timeline: Timeline, sku: str, now: datetime) -> UUID:
    """All facts and prices of the timeline, as they are known at the instant."""
    cluster = await billing.make_cluster()
    await install(billing, base, timeline, sku)
    for segment in timeline.segments:
        start, end = base + segment.start * SECOND, None if segment.end is None else base + segment.end * SECOND
        await billing.execute(
            _INTERVAL,
            id=new_id(),
            project=billing.project.id,
            cluster=cluster,
            flavor=flavor_of(segment),
            sku=sku,
            region=REGION,
            currency=CURRENCY,
            quantity=segment.quantity,
            credited=segment.credited,
            anchor=base + timeline.segments[0].start * SECOND,
            start=start,
            end=end if end is not None and end <= now else None,
        )
    return cluster


async def live(billing: BillingWorld, cluster: UUID) -> tuple[int, Decimal | None]:
    """Minutes and cost as a list has them; None where a price is missing. A cluster's own usage says the same."""
    [row] = await billing.rows(_FIGURES.text, id=cluster)
    async with billing.database.read() as connection:
        try:
            usage = await cluster_usage(connection, project_id=billing.project.id, cluster_id=cluster)
        except Problem as problem:
            if problem.kind is not NOT_CONFIGURED:
                raise
            assert row.cost is None
        else:
            assert (usage.minutes, usage.cost.amount) == (row.minutes, row.cost)
    return row.minutes, row.cost


async def other_account(billing: BillingWorld) -> UUID:
    account = new_id()
    await billing.execute("INSERT INTO billing_accounts (id, name, currency) VALUES (:id, 'o', 'EUR')", id=account)
    return account


async def example(billing: BillingWorld, base: datetime, timelines: list[Timeline], changes: list[int]) -> None:
    hour = base.replace(minute=0)
    now = hour + timedelta(hours=HOURS)
    own, other = billing.project.id, await other_account(billing)
    spans = [(hour + timedelta(hours=at), account) for at, account in zip(changes, (other, own, other), strict=False)]
    for since, account in spans:
        await billing.pays(account, since)
    billing.now(now)
    clusters = [await record(billing, base, timeline, f"sku-{place}", now) for place, timeline in enumerate(timelines)]
    payers = [(hour - timedelta(days=9), own), *spans]
    counts = [counted(timeline, base, now, payers, own) for timeline in timelines]
    for cluster, count in zip(clusters, counts, strict=True):
        expected = count.cost if count.priced == count.minutes else None
        assert await live(billing, cluster) == (count.minutes, expected)
    outlook = await billing.rows(
        _OUTLOOK.text, project=own, since=hour - timedelta(days=1), until=now + timedelta(days=9)
    )
    async with billing.database.read() as connection:
        before = await project_spending(connection, own, currency=CURRENCY)
    await billing.keep(now + 70 * SECOND)
    billing.now(now)
    async with billing.database.read() as connection:
        after = await project_spending(connection, own, currency=CURRENCY)
        billing.now(after.until + (now - after.since))
        later = await project_spending(connection, own, currency=CURRENCY)
        past = await project_spending(connection, own, month=now.date(), currency=CURRENCY)
        reported = await report(connection, groups=["month", "flavor"], since=hour, until=now, project_id=own)
    by_payer = {row.account_id: row.cost for row in await billing.rows(_BY_PAYER)}
    expected_posts = {c: (count.priced, count.cost) for c, count in zip(clusters, counts, strict=True) if count.priced}
    assert {row.resource_id: (row.minutes, row.cost) for row in await billing.rows(_POSTED)} == expected_posts
    assert {row.resource_id: (row.minutes, row.cost) for row in outlook if row.minutes} == expected_posts
    for account in (own, other):
        assert by_payer.get(account, 0) == sum(count.by_payer.get(account, 0) for count in counts)
    assert (before.posted.amount, after.unposted.amount) == (Decimal(0), Decimal(0))
    assert (before.accrued, before.projected, before.forecast) == (after.accrued, after.projected, after.forecast)
    assert after.posted == after.accrued == before.unposted
    assert sum(each.accrued.amount for each in after.clusters) == after.accrued.amount
    assert sum(each.forecast.amount for each in after.skus) == after.forecast.amount
    by_flavor: dict[tuple[str | None, ...], Decimal] = {}
    for used, cost in (part for count in counts for part in count.by_flavor.items()):
        by_flavor[used] = by_flavor.get(used, Decimal(0)) + cost
    assert {tuple(row.group.values()): row.cost.amount for row in reported.rows} == by_flavor
    of_month = {(after.month, each.flavor): each.accrued.amount for each in after.flavors if each.accrued.amount}
    assert of_month == {used: cost for used, cost in by_flavor.items() if cost and used[0] == after.month}
    assert sum(each.forecast.amount for each in after.flavors) == after.forecast.amount
    assert (later.previous.until, later.previous.accrued) == (now, after.accrued)
    assert later.previous.total == past.accrued
    of_clusters = {each.cluster_id: each.accrued for each in after.clusters}
    for each in later.clusters:
        assert each.previous == of_clusters.get(each.cluster_id, after.accrued * 0)


@settings(ONE_DATABASE, max_examples=6)
@given(
    base=st.sampled_from(BASES),
    timelines=st.lists(TIMELINES, min_size=3, max_size=7),
    changes=st.lists(st.integers(0, HOURS - 1), max_size=3, unique=True).map(sorted),
)
def test_live_usage_is_what_the_close_posts(
    database: Scratch, base: datetime, timelines: list[Timeline], changes: list[int]
) -> None:
    anew(database, lambda billing: example(billing, base, timelines, changes))
