"""Clusters that follow a schedule: once at each moment, and what becomes of it when something is in the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from ipucloud.clusters.operations.waiting import MayWait
from ipucloud.config import Settings
from ipucloud.contract.operations import OperationState
from ipucloud.db.engine import Database
from ipucloud.policies.schedules import follow_schedules
from tests.feature.billing.test_killed import killed_at, using
from tests.support.postgres import Database as Scratch
from tests.support.world import World
from tests.support.world.clock import start_clock, stop_clock

pytestmark = pytest.mark.anyio

WORK = {
    "time_zone": "Europe/Luxembourg",
    "periods": [{"days": ["mon", "tue", "wed", "thu", "fri"], "starts_at": "08:00", "ends_at": "20:00"}],
    "holidays": [],
}
BEGUN = """
SELECT kind || to_char(created_at AT TIME ZONE 'UTC', ' DD HH24:MI') FROM operations
 WHERE requested_by IS NULL ORDER BY id
"""
EVENTS = """
SELECT concat_ws(' ', replace(type, 'cluster.schedule_', ''), data ->> 'action', data ->> 'waits_for') FROM events
 WHERE starts_with(type, 'cluster.schedule') ORDER BY transaction, id
"""


@dataclass
class Scheduled:
    """A world in which three workers follow the schedules whenever the clock is moved; times of May 2026, UTC."""

    world: World
    set_clock: Callable[[datetime], None]

    def clock(self, time: str) -> None:
        day, _, hour = time.partition(" ")
        self.set_clock(datetime.fromisoformat(f"2026-05-{day}T{hour}:00Z"))

    async def at(self, time: str) -> None:
        self.clock(time)
        settings, database = self.world.settings, self.world.database
        await asyncio.gather(*(follow_schedules(settings, database) for _ in range(3)))

    async def shown(self, cluster: UUID) -> dict[str, Any]:
        schedule: dict[str, Any] = (await self.world.cluster(cluster))["schedule"]
        return schedule

    async def notified(self) -> list[str]:
        return await self.world.column(EVENTS)

    async def begun(self) -> list[str]:
        return await self.world.column(BEGUN)


@pytest.fixture
def scheduled(world: World, set_clock: Callable[[datetime], None]) -> Scheduled:
    fixture = Scheduled(world, set_clock)
    fixture.clock("04 10:00")
    return fixture


async def test_a_working_week(scheduled: Scheduled) -> None:
    """4 May 2026 is a Monday."""
    world = scheduled.world
    bert = await world.make_active(schedule=WORK)
    shown = await scheduled.shown(bert)
    assert shown == WORK | {"next_action": "suspend", "next_at": "2026-05-04T18:00:00.000000Z", "due": None}
    await scheduled.at("04 17:59")
    assert await scheduled.begun() == []
    await scheduled.at("04 18:00")
    assert await scheduled.begun() == ["cluster.suspend 04 18:00"]
    cluster = await world.cluster(bert)
    assert cluster["state_reason"] == "its schedule suspends it from 2026-05-04 18:00 UTC on"
    assert cluster["operation"]["request_id"] == f"schedule-{bert}"
    await world.finish_suspend(bert)
    assert (await scheduled.shown(bert))["next_at"] == "2026-05-05T06:00:00.000000Z"
    await scheduled.at("05 06:00")
    assert await scheduled.world.state(bert) == "resuming"
    assert (await scheduled.shown(bert))["due"]["operation"] is not None
    await world.finish_create(bert)
    await scheduled.at("05 06:01")
    assert (await scheduled.shown(bert))["due"] is None
    assert await scheduled.begun() == ["cluster.suspend 04 18:00", "cluster.resume 05 06:00"]
    assert await scheduled.notified() == ["started suspend", "started resume"]


async def test_a_schedule_acts_from_its_next_moment_on(scheduled: Scheduled) -> None:
    """Setting it at night does not suspend the cluster there and then; the same one again changes nothing."""
    world = scheduled.world
    bert = await world.make_active()
    scheduled.clock("04 23:00")
    await world.update(bert, schedule=WORK)
    await scheduled.at("04 23:01")
    assert await scheduled.world.state(bert) == "active"
    version = (await world.cluster(bert))["version"]
    await world.update(bert, schedule=WORK)
    assert (await world.cluster(bert))["version"] == version
    await world.update(bert, schedule=None)
    assert (await world.cluster(bert))["schedule"] is None
    await scheduled.at("06 23:00")
    assert await scheduled.begun() == []
    fields = await world.column("SELECT data -> 'fields' FROM events WHERE type = 'cluster.updated'")
    assert fields == [["schedule"], ["schedule"]]


async def test_what_a_person_does_holds_until_the_next_moment(scheduled: Scheduled) -> None:
    world = scheduled.world
    bert = await world.make_active(schedule=WORK)
    await scheduled.at("04 18:00")
    await world.finish_suspend(bert)
    scheduled.clock("04 22:00")
    await world.resume(bert)
    await world.finish_create(bert)
    await scheduled.at("05 02:00")
    assert await scheduled.world.state(bert) == "active"
    # Resumed already; and suspended by hand during the day.
    await scheduled.at("05 06:00")
    scheduled.clock("05 10:00")
    await world.suspend(bert)
    await world.finish_suspend(bert)
    await scheduled.at("05 12:00")
    await scheduled.at("05 18:00")
    assert await scheduled.world.state(bert) == "suspended"
    await scheduled.at("06 06:00")
    assert await scheduled.begun() == ["cluster.suspend 04 18:00", "cluster.resume 06 06:00"]
    assert await scheduled.notified() == ["started suspend", "started resume"]


async def test_after_an_outage_the_last_moment_counts_unless_a_person_has_decided_since(scheduled: Scheduled) -> None:
    world = scheduled.world
    bert, ernie = [await world.make_active(name, schedule=WORK) for name in ("bert", "ernie")]
    # A night that nobody served: the clusters are to be in use again.
    await scheduled.at("05 07:00")
    assert await scheduled.begun() == []
    scheduled.clock("06 19:00")
    await world.suspend(ernie)
    await world.finish_suspend(ernie)
    scheduled.clock("06 20:00")
    await world.resume(ernie)
    await world.finish_create(ernie)
    await scheduled.at("06 21:00")
    assert (await scheduled.world.state(bert), await scheduled.world.state(ernie)) == ("suspending", "active")
    assert await scheduled.begun() == ["cluster.suspend 06 21:00"]
    assert (await scheduled.shown(ernie))["next_at"] == "2026-05-07T06:00:00.000000Z"


async def test_a_cluster_that_is_busy_is_suspended_afterwards(scheduled: Scheduled) -> None:
    world = scheduled.world
    bert = (await world.create(schedule=WORK)).target_id
    await scheduled.at("04 18:00")
    due = (await scheduled.shown(bert))["due"]
    assert (due["action"], due["waits_for"], due["retry_at"]) == ("suspend", "operation", None)
    await scheduled.at("04 18:01")
    await world.finish_create(bert)
    await scheduled.at("04 18:02")
    assert await scheduled.begun() == ["cluster.suspend 04 18:02"]
    assert await scheduled.notified() == ["waiting suspend operation", "started suspend"]


async def test_a_resume_without_room_is_tried_again_until_the_next_suspend(scheduled: Scheduled) -> None:
    world = scheduled.world
    bert = await world.make_active(schedule=WORK)
    await scheduled.at("04 18:00")
    await world.finish_suspend(bert)
    await world.execute("UPDATE quotas SET machine_limit = 0 WHERE machine_type = 'm2000'")
    await scheduled.at("05 06:00")
    due = (await scheduled.shown(bert))["due"]
    assert (due["waits_for"], due["retry_at"]) == ("quota_exceeded", "2026-05-05T06:05:00.000000Z")
    assert "quota" in due["detail"]
    await scheduled.at("05 06:04")
    await scheduled.at("05 06:05")
    assert await scheduled.notified() == ["started suspend", "waiting resume quota_exceeded"]
    await scheduled.at("05 18:00")
    assert (await scheduled.shown(bert))["due"] is None
    assert (await scheduled.notified())[2:] == ["missed resume quota_exceeded"]
    await world.execute("UPDATE quotas SET machine_limit = 64 WHERE machine_type = 'm2000'")
    await scheduled.at("06 06:00")
    assert await scheduled.world.state(bert) == "resuming"


async def test_a_resume_that_fails_is_tried_again_and_one_that_is_cancelled_is_not(scheduled: Scheduled) -> None:
    world = scheduled.world
    bert = await world.make_active(schedule=WORK)
    await scheduled.at("04 18:00")
    await world.finish_suspend(bert)

    await scheduled.at("05 06:00")
    await world.finish_suspend(bert, OperationState.FAILED)
    await scheduled.at("05 06:01")
    due = (await scheduled.shown(bert))["due"]
    assert (due["waits_for"], due["retry_at"]) == ("resume_failed", "2026-05-05T06:05:00.000000Z")
    await scheduled.at("05 06:05")
    await world.finish_suspend(bert, OperationState.CANCELLED)
    await scheduled.at("05 06:20")
    assert (await scheduled.shown(bert))["due"] is None
    assert await scheduled.begun() == [
        *("cluster.suspend 04 18:00", "cluster.resume 05 06:00", "cluster.resume 05 06:05")
    ]


async def test_a_clock_that_is_set_repeats_and_forgets_nothing(scheduled: Scheduled) -> None:
    """A month ahead by mistake, and back: the schedule goes on from the true time."""
    world = scheduled.world
    world.broken_on_purpose.add("machine_is_freed_before_it_is_taken")  # by what the clock showed
    bert = await world.make_active(schedule=WORK)
    await scheduled.at("31 23:00")
    await world.finish_suspend(bert)
    assert (await scheduled.shown(bert))["next_at"] == "2026-06-01T06:00:00.000000Z"
    await scheduled.at("04 17:00")
    assert (await scheduled.shown(bert))["next_at"] == "2026-05-04T18:00:00.000000Z"
    await scheduled.at("04 18:00")
    await scheduled.at("05 06:00")
    assert await scheduled.begun() == ["cluster.suspend 31 23:00", "cluster.resume 05 06:00"]


async def test_a_cluster_that_is_deleted_follows_nothing(scheduled: Scheduled) -> None:
    bert = await scheduled.world.make_active(schedule=WORK)
    await scheduled.world.delete(bert)
    await scheduled.at("04 18:00")
    await scheduled.world.finish_delete(bert)
    await scheduled.at("05 06:00")
    assert await scheduled.begun() == []


@pytest.mark.parametrize("point", ["schedule.action_begun", "schedule.written"])
def test_a_worker_killed_between_two_leaves_the_second_to_the_next(database: Scratch, point: str) -> None:
    async def follow(database: Database) -> None:
        await follow_schedules(Settings(), database)

    async def prepare(db: Database) -> None:
        scheduled = Scheduled(await World.seeded(db), partial(stop_clock, database.owner_url))
        scheduled.clock("04 10:00")
        for name in ("bert", "ernie"):
            await scheduled.world.make_active(name, schedule=WORK)
        scheduled.clock("04 18:00")

    using(database, prepare)
    assert killed_at(database, point, 2, follow)
    using(database, follow)
    assert using(database, lambda db: World(db).column(EVENTS)) == ["started suspend"] * 2
    start_clock(database.owner_url)


async def test_a_resume_that_still_waits_for_capacity_ends_with_its_period(scheduled: Scheduled) -> None:
    """Otherwise machines that become free at night would bring the cluster up, and it would be billed."""
    world = scheduled.world
    bert = await world.make_suspended(schedule=WORK)
    await world.make_active("full", "m2000-pod64")
    early = await world.resume(bert, may_wait=MayWait(for_capacity=True))
    await scheduled.at("04 17:59")
    assert (await world.cluster(bert))["waiting"] is not None
    await scheduled.at("04 18:00")
    ended = await world.one(
        "SELECT state, error ->> 'code' AS code FROM operations WHERE id = :id", id=early.operation_id
    )
    assert (ended.state, ended.code) == ("failed", "preempted")
    assert (await scheduled.world.state(bert), (await world.cluster(bert))["waiting"]) == ("suspended", None)
    scheduled.clock("04 18:30")
    late = await world.resume(bert, may_wait=MayWait(for_capacity=True))
    await scheduled.at("04 18:31")
    assert (await world.cluster(bert))["operation"]["id"] == str(late.operation_id)
    assert (await world.cluster(bert))["waiting"] is not None
