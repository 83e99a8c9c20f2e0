"""Machines that do not work are not billed: the documented examples, faults that overlap or come late, and kills."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from ipucloud.billing.metering.intervals import close_interval
from ipucloud.billing.pricing.usage import cluster_usage
from ipucloud.db.engine import Database
from ipucloud.inventory.health.codes import Code
from tests.feature.billing.faulty import SERVER, Faulty, faulty
from tests.feature.billing.test_killed import killed_at
from tests.feature.billing.world import BillingWorld, at
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

CHARGES = "SELECT minutes, quantity, credited, cost FROM usage_charges ORDER BY hour, first_minute, rev"
INTERVALS = "SELECT started_at, ended_at, credited FROM usage_intervals ORDER BY started_at, ended_at NULLS LAST"
CITED = """
SELECT array_agg(c.report_id) FROM usage_intervals u JOIN usage_credits c ON c.interval_id = u.id
 GROUP BY u.id ORDER BY u.started_at
"""
START = at("2026-05-05T10:00:20")


def today(time: str) -> datetime:
    return at(f"2026-05-05T{time}")


async def pod4(billing: BillingWorld) -> Faulty:
    """A cluster of four machines since `START`, at 0.0625 EUR per machine-minute."""
    await billing.price("0.0625")
    cluster = await faulty(billing)
    await billing.used(cluster.cluster, START, quantity=4)
    return cluster


async def charges(billing: BillingWorld) -> list[tuple[object, ...]]:
    return await billing.tuples(CHARGES)


async def intervals(billing: BillingWorld) -> list[tuple[str, str | None, int]]:
    """Start, end and credited machines of each, as times of the day."""
    return [(f"{row[0]:%H:%M:%S}", row[1] and f"{row[1]:%H:%M:%S}", row[2]) for row in await billing.rows(INTERVALS)]


async def close(billing: BillingWorld, cluster: Faulty, time: str) -> None:
    """The cluster is deleted then, and what is due is charged."""
    billing.now(today(time))
    async with billing.database.begin() as connection:
        await close_interval(connection, project_id=billing.project.id, cluster_id=cluster.cluster)
    await billing.keep(at("2026-05-05T14:00:00"))
    assert await cluster.violations() == []


@pytest.mark.parametrize(
    ("part", "times", "until", "cost"),
    [
        (0, ("10:10:30", "10:30:30"), "11:00:20", "13.75"),
        (0, ("10:10:30", "10:10:50"), "11:00:20", "15.00"),
        (0, ("10:10:10", "10:10:30"), "11:00:20", "14.9375"),
        (SERVER, ("10:10:20",), "11:00:20", "2.50"),
        (0, ("10:10:30",), "10:20:00", "4.4375"),
    ],
)
async def test_the_documented_examples(
    billing: BillingWorld, part: int, times: tuple[str, ...], until: str, cost: str
) -> None:
    """Four machines since 10:00:20; each change is recorded two seconds after it was first seen."""
    cluster = await pod4(billing)
    billing.now(today(times[0]) + timedelta(seconds=2))
    report = await cluster.fails(part, today(times[0]))
    for time in times[1:]:
        billing.now(today(time) + timedelta(seconds=2))
        await cluster.works(report, today(time))
    await close(billing, cluster, until)
    assert (await billing.total())[1] == Decimal(cost)


async def test_a_machine_fails_and_is_replaced(billing: BillingWorld) -> None:
    """Seen at 10:10:30: the minute that began at 10:10:20 is billed, the 20 that begin until 10:30:29 are not."""
    cluster = await pod4(billing)
    billing.now(today("10:10:32"))
    report = await cluster.fails(0, today("10:10:30"))
    billing.now(today("10:30:40"))
    await cluster.works(report, today("10:30:30"))
    await billing.keep(today("11:02:00"))
    assert await charges(billing) == [
        (11, 4, 0, Decimal("2.75")),
        (20, 3, 1, Decimal("3.75")),
        (29, 4, 0, Decimal("7.25")),
    ]
    async with billing.database.read() as connection:
        usage = await cluster_usage(connection, project_id=billing.project.id, cluster_id=cluster.cluster)
    assert (usage.minutes, usage.credited_minutes) == (62, 20)
    assert [(each.minutes, each.credited_machines) for each in usage.slices] == [(11, 0), (20, 1), (31, 0)]


FaultSpan = tuple[int, Code, str, str]
"""A part, what is wrong with it, and when that was first and last seen."""


@pytest.mark.parametrize(
    ("faults", "machine_minutes"),
    [
        pytest.param(
            [
                (SERVER, Code.HOST_FAILED, "10:10:00", "11:10:00"),
                (0, Code.BMC_CRITICAL, "10:20:00", "10:30:00"),
            ],
            480 - 60 * 4,
            id="a machine while the server is dead",
        ),
        pytest.param(
            [
                (0, Code.BMC_CRITICAL, "10:10:00", "10:25:00"),
                (0, Code.POWERED_OFF, "10:14:00", "10:31:00"),
            ],
            480 - 21,
            id="two codes of one machine",
        ),
        pytest.param(
            [
                (0, Code.BMC_CRITICAL, "10:10:00", "10:25:00"),
                (0, Code.POWERED_OFF, "10:14:00", "10:31:00"),
                (1, Code.BMC_CRITICAL, "10:59:00", "11:09:00"),
            ],
            480 - 21 - 10,
            id="and another machine later",
        ),
        pytest.param(
            [
                (0, Code.BMC_CRITICAL, "10:10:00", "10:40:00"),
                (1, Code.BMC_CRITICAL, "10:20:00", "10:50:00"),
                (SERVER, Code.HOST_FAILED, "10:45:00", "11:00:00"),
            ],
            480 - 10 - 2 * 20 - 5 - 4 * 15,
            id="one after the other",
        ),
    ],
)
async def test_faults_that_overlap_are_each_credited_to_their_own_end(
    billing: BillingWorld, faults: list[FaultSpan], machine_minutes: int
) -> None:
    """Four machines from 10:00 to 12:00; each change is seen for certain half a minute later."""
    await billing.price("0.0625")
    cluster = await faulty(billing)
    await billing.used(cluster.cluster, today("10:00:00"), quantity=4)
    reports: dict[FaultSpan, UUID] = {}
    changes = [(time, fault) for fault in faults for time in fault[2:]]
    for time, fault in sorted(changes, key=lambda pair: pair[0]):
        billing.now(today(time) + timedelta(seconds=30))
        if fault in reports:
            await cluster.works(reports[fault], today(time))
        else:
            reports[fault] = await cluster.fails(fault[0], today(time), fault[1])
    await close(billing, cluster, "12:00:00")
    [billed] = await billing.rows("SELECT sum(minutes * quantity) FROM usage_charges")
    assert billed[0] == machine_minutes
    assert (await billing.total())[1] == machine_minutes * Decimal("0.0625")


async def test_what_happened_between_two_looks_is_credited_step_by_step(billing: BillingWorld) -> None:
    """Reports that were written while nobody settled the cluster."""
    cluster = await pod4(billing)
    billing.now(today("10:40:00"))
    first = await cluster.fails(0, today("10:10:00"), settled=False)
    second = await cluster.fails(1, today("10:20:00"), settled=False)
    await cluster.works(first, today("10:30:00"), settled=False)
    await cluster.settle()
    assert await intervals(billing) == [
        ("10:00:20", "10:10:00", 0),
        ("10:10:00", "10:20:00", 1),
        ("10:20:00", "10:30:00", 2),
        ("10:30:00", None, 1),
    ]
    assert [set(row[0]) for row in await billing.rows(CITED)] == [{first}, {first, second}, {second}]


async def test_the_same_again_changes_nothing(billing: BillingWorld) -> None:
    cluster = await pod4(billing)
    since = today("10:10:30")
    billing.now(today("10:10:32"))
    first = await cluster.fails(0, since)
    await cluster.settle()
    second = await cluster.fails(0, since, Code.POWERED_OFF)
    await cluster.settle()
    assert await intervals(billing) == [("10:00:20", "10:10:30", 0), ("10:10:30", None, 1)]
    [cited] = await billing.rows(CITED)
    assert set(cited[0]) == {first, second}
    await cluster.works(first, since)
    await cluster.works(second, since)
    await cluster.settle()
    assert await intervals(billing) == [
        ("10:00:20", "10:10:30", 0),
        ("10:10:30", "10:10:30", 1),
        ("10:10:30", None, 0),
    ]


@pytest.mark.parametrize(
    ("seen", "expected"),
    [("09:00:00", "10:00:20"), ("10:00:00", "10:00:20"), ("10:05:05", "10:05:05")],
    ids=["before the cluster was billed", "before it was used", "within"],
)
async def test_a_credit_lies_within_the_interval(billing: BillingWorld, seen: str, expected: str) -> None:
    cluster = await pod4(billing)
    billing.now(today("10:10:00"))
    await cluster.fails(0, today(seen))
    started = [interval for interval in await intervals(billing) if interval[1] != interval[0]]
    assert started[-1] == (expected, None, 1)
    assert await cluster.violations() == []


async def test_an_earlier_fault_found_later_counts_from_the_last_change(billing: BillingWorld) -> None:
    cluster = await pod4(billing)
    billing.now(today("10:10:05"))
    await cluster.fails(0, today("10:10:00"))
    await cluster.fails(1, today("10:09:59"))
    assert await intervals(billing) == [
        ("10:00:20", "10:10:00", 0),
        ("10:10:00", "10:10:00", 1),
        ("10:10:00", None, 2),
    ]
    await billing.keep(today("11:02:00"))
    assert [row[:3] for row in await charges(billing)] == [(10, 4, 0), (50, 2, 2)]
    assert await cluster.violations() == []


async def test_a_server_that_fails_in_the_second_in_which_it_was_taken_counts_whole(billing: BillingWorld) -> None:
    """Intervals begin with whole seconds, so its allocation is younger than the interval."""
    cluster = await pod4(billing)
    allocated, failed = START + timedelta(milliseconds=300), START + timedelta(milliseconds=600)
    await billing.execute(
        "UPDATE allocations SET created_at = :at WHERE cluster_id = :id", at=allocated, id=cluster.cluster
    )
    billing.now(START + timedelta(seconds=1))
    report = await cluster.fails(SERVER, failed)
    billing.now(today("10:10:21"))
    await cluster.works(report, today("10:10:20"))
    assert [interval for interval in await intervals(billing) if interval[1] != interval[0]] == [
        ("10:00:20", "10:10:20", 4),
        ("10:10:20", None, 0),
    ]
    assert await cluster.violations() == []


async def test_nothing_is_credited_where_nothing_is_billed(billing: BillingWorld) -> None:
    await billing.price("0.0625")
    await (await faulty(billing)).fails(0, START)
    assert await intervals(billing) == []
    assert await billing.rows("SELECT FROM usage_credits") == []


async def test_a_killed_process_leaves_neither_credit_nor_gap(billing: BillingWorld, database: Scratch) -> None:
    cluster = await pod4(billing)
    billing.now(today("10:10:32"))
    await cluster.fails(0, today("10:10:30"), settled=False)

    async def work(other: Database) -> None:
        await replace(cluster, billing=BillingWorld(other, database.owner_url, billing.project)).settle()

    assert await asyncio.to_thread(killed_at, database, "credits.changed", 1, work)
    assert await intervals(billing) == [("10:00:20", None, 0)]
    await cluster.settle()
    assert await intervals(billing) == [("10:00:20", "10:10:30", 0), ("10:10:30", None, 1)]
