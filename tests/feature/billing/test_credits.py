"""Machines that do not work are not billed: the documented examples, what comes late, and what happens once."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import pytest
import sqlalchemy as sa

from ipucloud.billing.metering.intervals import close_interval, open_interval
from ipucloud.billing.pricing.usage import cluster_usage
from ipucloud.db.engine import Database
from tests.feature.billing.books import Books, at
from tests.feature.billing.test_killed import killed_at
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

CHARGES = "SELECT minutes, quantity, credited, cost FROM usage_charges ORDER BY hour, first_minute, rev"
INTERVALS = "SELECT started_at, ended_at, credited FROM usage_intervals ORDER BY started_at, ended_at NULLS LAST"
START = at("2026-05-05T10:00:20")


async def pod4(books: Books) -> UUID:
    """A cluster of four machines since `START`, at 0.0625 EUR per machine-minute."""
    await books.price("0.0625")
    cluster = await books.make_cluster()
    await books.used(cluster, START, quantity=4)
    return cluster


async def charges(books: Books) -> list[tuple[object, ...]]:
    return [tuple(row) for row in await books.rows(CHARGES)]


async def intervals(books: Books) -> list[tuple[str, str | None, int]]:
    """Start, end and credited machines of each, as times of the day."""
    return [(f"{row[0]:%H:%M:%S}", row[1] and f"{row[1]:%H:%M:%S}", row[2]) for row in await books.rows(INTERVALS)]


@pytest.mark.parametrize(
    ("machines", "times", "until", "cost"),
    [
        (1, ("10:10:30", "10:30:30"), "11:00:20", "13.75"),
        (1, ("10:10:30", "10:10:50"), "11:00:20", "15.00"),
        (1, ("10:10:10", "10:10:30"), "11:00:20", "14.9375"),
        (4, ("10:10:20",), "11:00:20", "2.50"),
        (1, ("10:10:30",), "10:20:00", "4.4375"),
    ],
)
async def test_the_documented_examples(
    books: Books, machines: int, times: tuple[str, ...], until: str, cost: str
) -> None:
    """Four machines since 10:00:20; each change is recorded two seconds after it was first seen."""
    cluster = await pod4(books)
    report = await books.reported(at(f"2026-05-05T{times[0]}"))
    for time, number in zip(times, (machines, 0), strict=False):
        since = at(f"2026-05-05T{time}")
        books.now(since + timedelta(seconds=2))
        await books.credit(cluster, number, since, report)
    books.now(at(f"2026-05-05T{until}"))
    async with books.database.begin() as connection:
        await close_interval(connection, project_id=books.project.id, cluster_id=cluster)
    await books.keep(at("2026-05-05T13:00:00"))
    assert (await books.total())[1] == Decimal(cost)


async def test_a_machine_fails_and_is_replaced(books: Books) -> None:
    """Seen at 10:10:30: the minute that began at 10:10:20 is billed, the 20 that begin until 10:30:29 are not."""
    cluster = await pod4(books)
    report = await books.reported(at("2026-05-05T10:10:30"))
    books.now(at("2026-05-05T10:10:32"))
    await books.credit(cluster, 1, at("2026-05-05T10:10:30"), report)
    books.now(at("2026-05-05T10:30:40"))
    await books.credit(cluster, 0, at("2026-05-05T10:30:30"))
    await books.keep(at("2026-05-05T11:02:00"))
    assert await charges(books) == [
        (11, 4, 0, Decimal("2.75")),
        (20, 3, 1, Decimal("3.75")),
        (29, 4, 0, Decimal("7.25")),
    ]
    async with books.database.read() as connection:
        usage = await cluster_usage(connection, project_id=books.project.id, cluster_id=cluster)
    assert (usage.minutes, usage.credited_minutes) == (62, 20)
    assert [(each.minutes, each.credited_machines) for each in usage.slices] == [(11, 0), (20, 1), (31, 0)]


async def test_a_cluster_none_of_whose_machines_work_costs_nothing(books: Books) -> None:
    cluster = await pod4(books)
    report = await books.reported(START)
    books.now(at("2026-05-05T10:00:22"))
    await books.credit(cluster, 4, START, report)
    await books.keep(at("2026-05-05T11:02:00"))
    assert await charges(books) == [(60, 0, 4, Decimal(0))]


async def test_a_credit_that_began_in_a_closed_hour_corrects_it(books: Books) -> None:
    """A worker that was away: the fault was seen before the hour was closed, and is confirmed afterwards."""
    cluster = await pod4(books)
    await books.keep(at("2026-05-05T11:02:00"))
    assert await books.total() == (60, Decimal(15))
    report = await books.reported(at("2026-05-05T10:50:20"))
    await books.credit(cluster, 2, at("2026-05-05T10:50:20"), report)
    await books.keep()
    assert await charges(books) == [
        (60, 4, 0, Decimal(15)),
        (-10, 4, 0, Decimal("-2.5")),
        (10, 2, 2, Decimal("1.25")),
    ]
    assert await books.rows("SELECT FROM dirty_hours") == []


async def test_the_same_again_changes_nothing(books: Books) -> None:
    cluster = await pod4(books)
    since = at("2026-05-05T10:10:30")
    first, second = await books.reported(since), await books.reported(since)
    books.now(at("2026-05-05T10:10:32"))
    for reports in ((first,), (first,), (first, second)):
        await books.credit(cluster, 1, since, *reports)
    assert await intervals(books) == [("10:00:20", "10:10:30", 0), ("10:10:30", None, 1)]
    [cited] = await books.rows("SELECT array_agg(report_id) FROM usage_credits")
    assert set(cited[0]) == {first, second}
    await books.credit(cluster, 0, since)
    await books.credit(cluster, 0, since)
    assert await intervals(books) == [
        ("10:00:20", "10:10:30", 0),
        ("10:10:30", "10:10:30", 1),
        ("10:10:30", None, 0),
    ]


@pytest.mark.parametrize(
    ("since", "expected"),
    [("09:00:00", "10:00:20"), ("10:00:00", "10:00:20"), ("10:05:05", "10:05:05"), ("12:00:00", "10:10:00")],
    ids=["before the cluster was billed", "before it was used", "within", "in the future"],
)
async def test_a_credit_lies_within_the_interval(books: Books, since: str, expected: str) -> None:
    cluster = await pod4(books)
    report = await books.reported(at("2026-05-05T09:00:00"))
    books.now(at("2026-05-05T10:10:00"))
    await books.credit(cluster, 1, at(f"2026-05-05T{since}"), report)
    assert await intervals(books) == [("10:00:20", expected, 0), (expected, None, 1)]


async def test_an_earlier_fault_found_later_counts_from_the_last_change(books: Books) -> None:
    cluster = await pod4(books)
    earlier, later = await books.reported(at("2026-05-05T10:09:59")), await books.reported(at("2026-05-05T10:10:00"))
    books.now(at("2026-05-05T10:10:05"))
    await books.credit(cluster, 1, at("2026-05-05T10:10:00"), later)
    await books.credit(cluster, 2, at("2026-05-05T10:09:59"), earlier, later)
    assert await intervals(books) == [
        ("10:00:20", "10:10:00", 0),
        ("10:10:00", "10:10:00", 1),
        ("10:10:00", None, 2),
    ]
    await books.keep(at("2026-05-05T11:02:00"))
    assert [row[:3] for row in await charges(books)] == [(10, 4, 0), (50, 2, 2)]


async def test_a_fault_that_follows_another_is_credited_from_its_own_first_sight(books: Books) -> None:
    cluster = await pod4(books)
    first, second = await books.reported(at("2026-05-05T10:10:00")), await books.reported(at("2026-05-05T10:30:02"))
    books.now(at("2026-05-05T10:30:10"))
    await books.credit(cluster, 1, at("2026-05-05T10:10:00"), first)
    await books.credit(cluster, 4, at("2026-05-05T10:30:00"), second)
    assert await intervals(books) == [
        ("10:00:20", "10:10:00", 0),
        ("10:10:00", "10:30:02", 1),
        ("10:30:02", None, 4),
    ]


async def test_a_credit_ends_with_its_interval(books: Books) -> None:
    """Suspended while a machine was down: nothing is credited afterwards, and a resumed cluster is billed anew."""
    cluster = await pod4(books)
    report = await books.reported(at("2026-05-05T10:05:00"))
    books.now(at("2026-05-05T10:05:02"))
    await books.credit(cluster, 4, at("2026-05-05T10:05:00"), report)
    mine = {"project_id": books.project.id, "cluster_id": cluster}
    for instant, work in (("10:20:00", close_interval), ("10:40:20", open_interval)):
        books.now(at(f"2026-05-05T{instant}"))
        async with books.database.begin() as connection:
            await work(connection, **mine)
        await books.credit(cluster, 0, at(f"2026-05-05T{instant}"))
    await books.credit(cluster, 0, at("2026-05-05T10:30:00"))
    await books.keep(at("2026-05-05T11:02:00"))
    assert await charges(books) == [
        (5, 4, 0, Decimal("1.25")),
        (15, 0, 4, Decimal(0)),
        (20, 1, 0, Decimal("1.25")),
    ]


async def test_nothing_is_credited_where_nothing_is_billed(books: Books) -> None:
    await books.price("0.0625")
    cluster = await books.make_cluster()
    await books.credit(cluster, 1, START, await books.reported(START))
    assert await intervals(books) == []
    assert await books.rows("SELECT FROM usage_credits") == []


async def test_a_credit_without_evidence_is_refused(books: Books) -> None:
    cluster = await pod4(books)
    with pytest.raises(ValueError, match="at least one health report"):
        await books.credit(cluster, 1, START)
    with pytest.raises(sa.exc.IntegrityError, match="ck_usage_intervals_credited"):
        await books.credit(cluster, 5, START, await books.reported(START))
    assert await intervals(books) == [("10:00:20", None, 0)]


async def test_a_killed_process_leaves_neither_credit_nor_gap(books: Books, database: Scratch) -> None:
    cluster = await pod4(books)
    since = at("2026-05-05T10:10:30")
    report = await books.reported(since)
    books.now(at("2026-05-05T10:10:32"))

    async def work(other: Database) -> None:
        await Books(other, database.owner_url, books.project).credit(cluster, 1, since, report)

    assert await asyncio.to_thread(killed_at, database, "credits.changed", 1, work)
    assert await intervals(books) == [("10:00:20", None, 0)]
    await books.credit(cluster, 1, since, report)
    assert await intervals(books) == [("10:00:20", "10:10:30", 0), ("10:10:30", None, 1)]
