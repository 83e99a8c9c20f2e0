"""Intervals open and close with the state; minutes and money follow from them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from ipucloud.billing.metering.intervals import close_interval, open_interval
from ipucloud.billing.pricing.usage import cluster_usage, project_usage
from ipucloud.contract.charges import ProjectUsageOut, UsageOut
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.money import Money
from tests.feature.billing.world import at
from tests.support.factories import make_project
from tests.support.postgres import Database as Scratch
from tests.support.world import World
from tests.support.world.clock import stop_clock

pytestmark = pytest.mark.anyio

Shows = Callable[[str], None]


@pytest.fixture
def shows(database: Scratch) -> Shows:
    """Sets the database's clock."""
    return lambda text: stop_clock(database.owner_url, at(text))


@pytest.fixture(autouse=True)
def intervals_of_their_own(world: World) -> None:
    """These tests open and close intervals as they like, whatever the cluster is doing."""
    world.broken_on_purpose.update(
        {
            "unusable_cluster_is_not_billed",
            "interval_begins_in_the_cluster_s_life",
            "interval_ends_when_delete_is_asked_for",
            "billed_cluster_was_ready",
            "cluster_is_billed_as_what_it_is",
            "billed_usage_has_a_price",
        }
    )


async def opened(world: World, cluster_id: UUID) -> None:
    """Billing of a cluster that is ready: what one was billed before is not final."""
    async with world.database.begin() as connection:
        await connection.execute(
            sa.text("UPDATE clusters SET ready_at = created_at WHERE id = :id"), {"id": cluster_id}
        )
        await open_interval(connection, project_id=world.project.id, cluster_id=cluster_id)


async def closed(world: World, cluster_id: UUID) -> None:
    async with world.database.begin() as connection:
        await close_interval(connection, project_id=world.project.id, cluster_id=cluster_id)


async def used(world: World, cluster_id: UUID) -> UsageOut:
    async with world.database.read() as connection:
        return await cluster_usage(connection, project_id=world.project.id, cluster_id=cluster_id)


async def used_by_project(
    world: World, since: str | None = None, until: str | None = None, currency: str = "EUR"
) -> ProjectUsageOut:
    async with world.database.read() as connection:
        return await project_usage(
            connection,
            project_id=world.project.id,
            currency=currency,
            since=at(since) if since else None,
            until=at(until) if until else None,
        )


async def intervals(world: World) -> list[tuple[datetime, datetime | None, int]]:
    rows = "SELECT started_at, ended_at, quantity FROM usage_intervals ORDER BY started_at"
    return [tuple(row) for row in await world.rows(rows)]


async def test_a_cluster_is_billed_by_its_machines_from_a_whole_second_on(world: World, shows: Shows) -> None:
    created = await world.create(flavor="m2000-pod16")
    shows("2026-03-01T10:00:00.900")
    await opened(world, created.target_id)
    assert await intervals(world) == [(at("2026-03-01T10:00:00"), None, 4)]
    shows("2026-03-01T10:01:01")
    usage = await used(world, created.target_id)
    assert (usage.minutes, usage.cost, usage.running) == (2, Money.of("0.5", "EUR"), True)


async def test_opening_twice_and_closing_twice_changes_nothing(world: World, shows: Shows) -> None:
    created = await world.create()
    for moment in ("2026-03-01T10:00:00", "2026-03-01T10:05:00"):
        shows(moment)
        await opened(world, created.target_id)
    for moment in ("2026-03-01T10:10:00", "2026-03-01T10:15:00"):
        shows(moment)
        await closed(world, created.target_id)
    assert await intervals(world) == [(at("2026-03-01T10:00:00"), at("2026-03-01T10:10:00"), 1)]


async def test_a_clock_that_went_back_never_closes_before_the_start(world: World, shows: Shows) -> None:
    created = await world.create()
    shows("2026-03-01T10:00:00")
    await opened(world, created.target_id)
    shows("2026-03-01T09:59:00")
    await closed(world, created.target_id)
    assert await intervals(world) == [(at("2026-03-01T10:00:00"), at("2026-03-01T10:00:00"), 1)]
    assert (await used(world, created.target_id)).minutes == 0


async def test_no_moment_is_billed_twice_whatever_the_clock_shows(world: World, shows: Shows) -> None:
    """Nor is what waits for the interval, such as a resume, refused."""
    created = await world.create()
    shows("2026-03-01T10:00:00")
    await opened(world, created.target_id)
    shows("2026-03-01T10:10:00")
    await closed(world, created.target_id)
    shows("2026-03-01T10:05:00")
    await opened(world, created.target_id)
    shows("2026-03-01T10:30:00")
    usage = await used(world, created.target_id)
    assert [(part.started_at.minute, part.minutes) for part in usage.slices] == [(0, 10), (10, 20)]


async def test_a_pause_keeps_the_minutes_of_the_first_start(world: World, shows: Shows) -> None:
    """Minutes are counted from the first start for the whole life: a pause inside a minute does not start it twice."""
    created = await world.create()
    for start, end in (("10:00:00", "10:00:10"), ("10:00:20", "10:00:50"), ("10:00:55", "10:01:05")):
        shows(f"2026-03-01T{start}")
        await opened(world, created.target_id)
        shows(f"2026-03-01T{end}")
        await closed(world, created.target_id)
    usage = await used(world, created.target_id)
    assert [(part.started_at.second, part.minutes) for part in usage.slices] == [(0, 1), (55, 1)]
    assert (await world.cluster(created.target_id))["billing"]["minutes"] == 2


async def test_a_price_change_cuts_the_usage_where_it_comes_into_force(world: World, shows: Shows) -> None:
    created = await world.create(flavor="m2000-pod8")
    shows("2026-03-01T10:00:00")
    await world.execute("UPDATE prices SET valid_to = '2026-03-01T10:05:30Z' WHERE region = 'luxembourg-2'")
    await world.execute(
        "INSERT INTO prices (id, sku, region, currency, unit_price, valid_from, source)"
        " VALUES (gen_random_uuid(), 'ipu-m2000', 'luxembourg-2', 'EUR', 0.07, '2026-03-01T10:05:30Z', 'test')"
    )
    shows("2026-03-01T10:00:30")
    await opened(world, created.target_id)
    shows("2026-03-01T10:10:00")
    await closed(world, created.target_id)
    usage = await used(world, created.target_id)
    assert [(part.minutes, part.unit_price.amount, part.cost.amount) for part in usage.slices] == [
        (5, Decimal("0.0625"), Decimal("0.625")),
        (5, Decimal("0.07"), Decimal("0.70")),
    ]
    assert usage.cost == Money.of("1.325", "EUR")
    assert (await world.cluster(created.target_id))["billing"]["cost"] == {"amount": "1.325", "currency": "EUR"}


async def test_before_the_first_start_there_is_nothing_to_pay(world: World) -> None:
    created = await world.create()
    usage = await used(world, created.target_id)
    assert (usage.minutes, usage.cost, usage.since, usage.running) == (0, Money.of(0, "EUR"), None, False)
    assert usage.slices == []


async def test_usage_of_what_is_not_the_project_s_is_not_found(world: World) -> None:
    created = await world.create()
    async with world.database.begin() as connection:
        stranger = await make_project(connection)
    async with world.database.read() as connection:
        for project_id, cluster_id in ((stranger.id, created.target_id), (world.project.id, uuid4())):
            with pytest.raises(Problem, match="not_found"):
                await cluster_usage(connection, project_id=project_id, cluster_id=cluster_id)


async def test_a_project_pays_for_its_clusters_in_the_running_month(world: World, shows: Shows) -> None:
    first, second = await world.create("first"), await world.create("second", flavor="m2000-pod16")
    await world.create("never-ready")
    shows("2026-02-28T23:50:00")
    await opened(world, first.target_id)
    shows("2026-03-01T00:05:00")
    await opened(world, second.target_id)
    shows("2026-03-01T00:10:00")
    march = await used_by_project(world)
    assert (march.since, march.until) == (at("2026-03-01T00:00:00"), at("2026-03-01T00:10:00"))
    assert [(cluster.name, cluster.minutes, cluster.cost) for cluster in march.clusters] == [
        ("first", 10, Money.of("0.625", "EUR")),
        ("second", 5, Money.of("1.25", "EUR")),
    ]
    assert (march.minutes, march.cost) == (15, Money.of("1.875", "EUR"))
    february = await used_by_project(world, "2026-02-01", "2026-03-01")
    assert (february.minutes, february.cost) == (10, Money.of("0.625", "EUR"))
    assert march.model_dump(mode="json")["cost"]["amount"] == "1.875"


async def test_three_minutes_are_shown_as_the_api_documents_none_ahead_and_none_in_another_currency(
    world: World, shows: Shows
) -> None:
    created = await world.create()
    shows("2026-03-01T10:00:00")
    await opened(world, created.target_id)
    shows("2026-03-01T10:03:00")
    shown = (await used(world, created.target_id)).model_dump(mode="json")
    assert (shown["since"], shown["until"]) == ("2026-03-01T10:00:00Z", "2026-03-01T10:03:00Z")
    assert shown["cost"] == {"amount": "0.1875", "currency": "EUR"}
    assert shown["slices"][0]["unit_price"] == {"amount": "0.0625", "currency": "EUR"}
    usage = await used_by_project(world, "2026-03-01", "2027-01-01")
    assert (usage.until, usage.minutes) == (at("2026-03-01T10:03:00"), 3)
    assert (await used_by_project(world, currency="CHF")).cost == Money.of(0, "CHF")


async def test_periods_side_by_side_hold_together_what_the_whole_holds(world: World, shows: Shows) -> None:
    created = await world.create()
    shows("2026-03-01T09:30:45")
    await opened(world, created.target_id)
    shows("2026-03-01T11:30:45")
    await closed(world, created.target_id)
    cuts = [f"2026-03-01T{time}" for time in ("09:00:00", "10:00:00", "10:59:59", "11:00:20", "12:00:00")]
    parts = [await used_by_project(world, *period) for period in pairwise(cuts)]
    shows("2026-03-02T00:00:00")
    whole = await used_by_project(world, cuts[0], cuts[-1])
    assert whole.minutes == 120
    assert sum(part.minutes for part in parts) == 120
    assert sum((part.cost for part in parts), start=Money.of(0, "EUR")) == whole.cost == Money.of("7.5", "EUR")
