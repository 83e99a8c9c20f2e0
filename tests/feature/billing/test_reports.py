"""The daily roll-up and reports: the same sums as the charges, whatever came late and whatever is asked."""

from __future__ import annotations

import asyncio
from datetime import date
from decimal import Decimal
from itertools import product
from typing import Any

import pytest
import sqlalchemy as sa

from ipucloud.billing.ledger.close import correct_hour
from ipucloud.billing.reports.report import Group, as_csv, report
from ipucloud.billing.reports.rollup import roll_up, roll_up_days
from ipucloud.billing.reports.unusual import unusual_days
from ipucloud.contract.reports import ReportOut
from ipucloud.invariants.billing_ledger import ROLL_UP
from ipucloud.invariants.rules import violations
from tests.feature.billing.faulty import faulty
from tests.feature.billing.invoices.customers import transact
from tests.feature.billing.world import BillingWorld, at
from tests.support.factories import Project, make_project

pytestmark = pytest.mark.anyio

SINCE, UNTIL = at("2026-05-04T00:00:00"), at("2026-05-08T00:00:00")
NOW = at("2026-05-07T09:30:00")


async def ask(billing: BillingWorld, *groups: str, **scope: Any) -> ReportOut:
    bounds = {"since": SINCE, "until": UNTIL} | scope
    if "account_id" not in bounds:
        bounds.setdefault("project_id", billing.project.id)
    async with billing.database.read() as connection:
        return await report(connection, groups=groups, **bounds)


async def furnished(billing: BillingWorld) -> Project:
    """Two projects over four days, one paid for by the other from noon of a day on; the running day is not over."""
    await billing.price("0.0625", valid_to=at("2026-05-05T08:30:30"))
    await billing.price("0.0710", at("2026-05-05T08:30:30"))
    other = await transact(billing, make_project)
    first, second, third = [await billing.make_cluster(each) for each in (None, None, other)]
    await billing.used(first, at("2026-05-04T06:12:13"), at("2026-05-06T09:00:01"), quantity=4)
    await billing.used(second, at("2026-05-04T23:59:59"), at("2026-05-05T00:00:01"))
    await billing.used(third, at("2026-05-05T10:10:10"), quantity=2, project=other)
    await billing.pays(billing.project.id, at("2026-05-06T12:00:00"), other)
    await billing.execute('UPDATE clusters SET tags = \'{"team": "=1+1"}\' WHERE id = :id', id=first)
    await billing.keep(NOW)
    return other


async def charged(billing: BillingWorld, where: str, **values: object) -> tuple[int, Decimal]:
    sums = f"SELECT coalesce(sum(minutes), 0), coalesce(sum(cost), 0) FROM usage_charges WHERE {where}"  # noqa: S608
    minutes, cost = await billing.one(sums, values)
    return int(minutes), cost


def summed(shown: ReportOut) -> tuple[int, Decimal]:
    return sum(each.minutes for each in shown.rows), sum((each.cost.amount for each in shown.rows), Decimal(0))


async def rolled_up(billing: BillingWorld) -> list[date]:
    return await billing.column("SELECT day FROM day_rollups WHERE hours > 0 ORDER BY day")


async def sound(billing: BillingWorld) -> bool:
    async with billing.database.begin() as connection:
        return not await violations(connection, ROLL_UP)


async def test_every_grouping_sums_to_the_charges(billing: BillingWorld) -> None:
    other = await furnished(billing)
    assert await rolled_up(billing) == [date(2026, 5, 4), date(2026, 5, 5), date(2026, 5, 6)]
    assert await sound(billing)
    groupings: list[tuple[str, ...]] = [(), *product((*Group, "tag:team")), ("cluster", "day"), ("tag:team", "month")]
    windows = [
        (SINCE, UNTIL),
        (at("2026-05-04T07:00:00"), at("2026-05-07T05:00:00")),
        (SINCE, at("2026-05-04T01:00:00")),
    ]
    for groups, (since, until) in product(groupings, windows):
        for project in (billing.project, other):
            shown = await ask(billing, *groups, project_id=project.id, since=since, until=until)
            bounds = "project_id = :id AND hour >= :since AND hour < :until"
            expected = await charged(billing, bounds, id=project.id, since=since, until=until)
            assert summed(shown) == expected, (groups, since)
            assert [(each.minutes, each.cost.amount) for each in shown.totals] == [expected][: len(shown.rows)]
    for account in (billing.project, other):
        shown = await ask(billing, "project", account_id=account.id)
        assert summed(shown) == await charged(billing, "account_id = :id", id=account.id)
    assert len((await ask(billing, "project", account_id=billing.project.id)).rows) == 2


async def test_each_minute_is_reported_under_the_flavor_that_it_was_used_at(billing: BillingWorld) -> None:
    await billing.price("0.0625")
    cluster, start, resized = await billing.make_cluster(), at("2026-05-04T06:00:00"), at("2026-05-04T10:00:00")
    await billing.used(cluster, start, resized, quantity=4, flavor="m2000-pod16")
    await billing.used(cluster, resized, at("2026-05-04T11:00:00"), quantity=16, flavor="m2000-pod64", anchor_at=start)
    await billing.keep(at("2026-05-05T09:30:00"))
    rolled = await ask(billing, "flavor", until=at("2026-05-05T00:00:00"))
    assert {row.group["flavor"]: (row.minutes, str(row.cost)) for row in rolled.rows} == {
        "m2000-pod16": (240, "60.00 EUR"),
        "m2000-pod64": (60, "60.00 EUR"),
    }
    await billing.execute("UPDATE day_rollups SET hours = -1")
    assert await ask(billing, "flavor", until=at("2026-05-05T00:00:00")) == rolled, "from the charges themselves"


async def test_credited_machine_minutes_are_beside_the_billed_ones(billing: BillingWorld) -> None:
    await billing.price("0.0625")
    cluster = await faulty(billing)
    failed, repaired = at("2026-05-04T07:00:00"), at("2026-05-04T07:20:00")
    billing.now(failed)
    await billing.used(cluster.cluster, at("2026-05-04T06:00:00"), quantity=4)
    report = await cluster.fails(0, failed)
    billing.now(repaired)
    await cluster.works(report, repaired)
    await billing.keep(at("2026-05-05T09:30:00"))
    whole = await ask(billing, until=at("2026-05-05T00:00:00"))
    [row] = whole.rows
    assert (row.minutes, row.machine_minutes, row.credited_machine_minutes) == (1080, 4 * 1080 - 20, 20)
    assert whole.totals[0].credited_machine_minutes == 20
    assert await rolled_up(billing) == [date(2026, 5, 4)]
    await billing.execute("UPDATE day_rollups SET hours = -1")
    assert await ask(billing, until=at("2026-05-05T00:00:00")) == whole


async def test_a_report_is_the_same_with_and_without_roll_ups(billing: BillingWorld) -> None:
    await furnished(billing)
    with_them = await ask(billing, "cluster", "day", "sku")
    await billing.execute("UPDATE day_rollups SET hours = -1")
    assert await ask(billing, "cluster", "day", "sku") == with_them
    assert len(await roll_up_days(billing.database)) == 3
    assert await ask(billing, "cluster", "day", "sku") == with_them


async def test_what_comes_late_is_in_the_next_report_and_in_the_next_roll_up(billing: BillingWorld) -> None:
    await furnished(billing)
    cluster = await billing.make_cluster()
    before = await ask(billing, "day")
    await billing.used(cluster, at("2026-05-05T09:00:00"), at("2026-05-05T09:10:00"))
    await correct_hour(billing.database, at("2026-05-05T09:00:00"))
    after = await ask(billing, "day")
    assert summed(after)[0] == summed(before)[0] + 10
    assert await sound(billing), "a roll-up that something came after is not used, and not wrong"
    assert await roll_up_days(billing.database) == [date(2026, 5, 5)]
    assert await ask(billing, "day") == after
    assert await sound(billing)
    assert await roll_up_days(billing.database) == []


async def test_many_that_roll_up_at_once_leave_one_roll_up(billing: BillingWorld) -> None:
    await furnished(billing)
    await asyncio.gather(*(roll_up(billing.database, date(2026, 5, 5)) for _ in range(4)))
    assert await billing.value("SELECT count(DISTINCT version) FROM usage_days WHERE day = '2026-05-05'") == 1
    assert await sound(billing)


async def test_a_roll_up_that_is_broken_off_leaves_the_one_before(billing: BillingWorld) -> None:
    await furnished(billing)
    before = await billing.rows("SELECT * FROM usage_days ORDER BY day, resource_id")
    await billing.execute("UPDATE day_rollups SET revisions = -1 WHERE day = '2026-05-05'")
    async with billing.database.begin() as connection:
        await connection.execute(sa.text("SELECT FROM day_rollups WHERE day = '2026-05-05' FOR UPDATE"))
        attempt = asyncio.create_task(roll_up(billing.database, date(2026, 5, 5)))
        while not await billing.rows("SELECT FROM pg_locks WHERE NOT granted"):
            await asyncio.sleep(0.01)
        attempt.cancel()
        with pytest.raises(asyncio.CancelledError):
            await attempt
    assert await billing.rows("SELECT * FROM usage_days ORDER BY day, resource_id") == before


async def test_csv_holds_no_formula(billing: BillingWorld) -> None:
    await furnished(billing)
    lines = as_csv(await ask(billing, "tag:team")).decode().split("\r\n")
    assert lines[0] == "tag:team,currency,minutes,machine_minutes,credited_machine_minutes,list_cost,cost"
    assert lines[1].startswith("'=1+1,EUR,")
    assert lines[2].startswith(",EUR,1,1,")
    assert lines[-1] == ""


async def test_an_unusual_day_is_found_in_what_is_posted(billing: BillingWorld) -> None:
    """Ten a day for two months, twenty on one of them. Another project's and another currency's cost is not counted."""
    other = await transact(billing, make_project)
    await billing.execute(
        """
        INSERT INTO hour_closes (hour, closed_at, charges)
        SELECT hour, hour + interval '1 hour', 1
          FROM generate_series('2026-04-01Z'::timestamptz, '2026-06-02T23:00Z', interval '1 hour') AS hour
        """
    )
    await billing.execute(
        """
        INSERT INTO day_rollups (day, version, hours, built_at)
        SELECT day, 1, 24, app_now() FROM generate_series('2026-04-01'::date, '2026-06-02', interval '1 day') AS day
        """
    )
    for project, currency in ((billing.project, "EUR"), (billing.project, "USD"), (other, "EUR")):
        await billing.execute(
            """
            INSERT INTO usage_days (day, version, account_id, project_id, resource_id, flavor, sku, region, currency,
                                    billing_month, price_id, unit_price, minutes, machine_minutes,
                                    credited_machine_minutes, cost, list_cost)
            SELECT day, 1, :project, :project, gen_random_uuid(), 'f', 's', 'r', :currency,
                   date_trunc('month', day), gen_random_uuid(), 10, 1, 1, 0,
                   CASE WHEN day = '2026-06-02' AND :spike THEN 20 ELSE 10 END, 10
              FROM day_rollups
            """,
            project=project.id,
            currency=currency,
            spike=project is billing.project and currency == "EUR",
        )
    june = {"since": at("2026-06-01T00:00:00"), "currency": "EUR"}
    async with billing.database.read() as connection:
        of: dict[str, Any] = {"connection": connection, "project_id": billing.project.id} | june
        assert await unusual_days(**of, until=at("2026-06-02T23:00:00")) == []  # the second is not over
        [unusual] = await unusual_days(**of, until=at("2026-06-03T00:00:00"))
        of |= {"project_id": None, "account_id": other.id}
        assert await unusual_days(**of, until=at("2026-06-03T00:00:00")) == []
    assert (unusual.day, str(unusual.cost), str(unusual.usual), str(unusual.difference)) == (
        date(2026, 6, 2),
        "20.00 EUR",
        "10.00 EUR",
        "10.00 EUR",
    )
