"""When clusters get other hardware: after a fault has lasted, in the customer's window, before planned maintenance."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.operations.replace import replace_hardware
from ipucloud.clusters.repairs.reschedule import reschedule
from ipucloud.config import Settings
from ipucloud.contract.repairs import RepairReason
from ipucloud.invariants.rules import DatabaseRepair, Violation
from ipucloud.invariants.site_rules import SITE_RULES
from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.observations import set_halted
from ipucloud.inventory.health.reports import report
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, Problem
from ipucloud.operations.store import Accepted
from ipucloud.policies.repairs import serve, start_repairs
from tests.support.waiting import until
from tests.support.world import World

pytestmark = pytest.mark.anyio

NOW = datetime.fromisoformat("2026-05-05T10:10:00Z")  # a Tuesday
NIGHTS = {"days": ["sat"], "starts_at": "02:00", "minutes": 60, "time_zone": "Europe/Luxembourg"}
SATURDAY = "2026-05-09T00:00:00.000000Z"


@dataclass
class Repairs:
    """A world on a stopped clock, in which `after` runs the task. `started`: the hardware of each repair it began."""

    world: World
    set_clock: Callable[[datetime], None]
    started: list[list[str]] = field(default_factory=list)
    full: bool = False

    async def after(self, **time: float) -> None:
        self.set_clock(NOW + timedelta(**time))
        await start_repairs(self.world.settings, self._replace, self.world.database)

    async def _replace(
        self,
        connection: AsyncConnection,
        actor: Actor,
        cluster_id: UUID,
        *,
        hardware: Sequence[str],
        reason: RepairReason,
        settings: Settings,
    ) -> Accepted:
        if self.full:
            raise Problem(CAPACITY_EXHAUSTED, "No other hardware is free.")
        self.started.append([*hardware])
        return await replace_hardware(
            connection, actor, cluster_id, hardware=hardware, reason=reason, settings=settings
        )

    async def scheduled(self, cluster_id: UUID) -> Any:
        return (await self.world.cluster(cluster_id))["scheduled_repair"]

    async def reason(self, cluster_id: UUID) -> str:
        said: str = (await self.world.cluster(cluster_id))["state_reason"]
        return said

    async def events(self, cluster_id: UUID) -> list[str]:
        types = await self.world.column(
            "SELECT type FROM events WHERE subject_id = :id AND type LIKE '%repair%' ORDER BY id", id=cluster_id
        )
        return [each.partition(".")[2] for each in types]

    async def outcomes(self) -> list[str]:
        return await self.world.column("SELECT outcome FROM scheduled_repairs WHERE outcome IS NOT NULL ORDER BY id")

    async def plan_maintenance(self, cluster_id: UUID, *, kind: str = "machine", **ahead: float) -> str:
        """Announce it for what the cluster holds, as operators do; the name of the hardware."""
        held, name = await self.world.one(
            f"SELECT o.id, o.name FROM allocations a JOIN {kind}s o ON o.id = a.{kind}_id"  # noqa: S608
            " WHERE a.cluster_id = :id AND a.ordinal = 0",
            id=cluster_id,
        )
        async with self.world.database.begin() as connection:
            await report(
                connection,
                kind="machine" if kind == "machine" else "host",
                object_id=held,
                source=Source.OPERATOR,
                code=Code.DRAIN,
                detail="replace the fan",
                maintenance_at=NOW + timedelta(**ahead),
                cluster_id=cluster_id,
            )
        return str(name)

    async def reschedule(self, cluster_id: UUID, starts_at: datetime) -> int:
        async with self.world.database.begin() as connection:
            return await reschedule(
                connection, self.world.project.actor, cluster_id, starts_at=starts_at, if_match=None
            )


@pytest.fixture
def repairs(world: World, set_clock: Callable[[datetime], None]) -> Repairs:
    set_clock(NOW)
    return Repairs(world, set_clock)


async def test_a_fault_that_lasts_is_repaired(repairs: Repairs) -> None:
    bert = await repairs.world.make_active()
    await repairs.world.fail(bert, Code.BMC_CRITICAL)
    await repairs.after(seconds=5)
    scheduled = await repairs.scheduled(bert)
    assert (scheduled["reason"], scheduled["starts_at"]) == ("fault", "2026-05-05T10:12:00.000000Z")
    assert "gets other hardware at 2026-05-05 10:12 UTC; until then, the cluster is not billed." in (
        await repairs.reason(bert)
    )
    await repairs.after(seconds=119)
    assert repairs.started == []
    await repairs.after(seconds=120)
    assert repairs.started == [scheduled["hardware"]]
    assert await repairs.events(bert) == ["repair_scheduled", "repair_started"]
    await repairs.after(seconds=125)
    assert len(repairs.started) == 1


PARTITIONS = "SELECT concat_ws(' ', name, desired_state, state, lost) FROM partitions ORDER BY name"


async def busy(world: World) -> tuple[UUID, list[Accepted]]:
    """A cluster on whose partitions a customer has operations open: one is made, another removed."""
    bert = await world.make_active()
    creation = await world.create_partition(bert, "made")
    await world.create_partition(bert, "removed")
    return bert, [creation, await world.remove_partition(bert, "removed")]


async def preempted(world: World, begun: Sequence[Accepted], why: str) -> None:
    for accepted in begun:
        ended = await world.operation(accepted.operation_id)
        assert (ended["state"], ended["error"]["code"]) == ("failed", "preempted")
        assert ended["error"]["detail"].startswith(why)


async def test_a_repair_begins_in_place_of_operations_on_partitions(repairs: Repairs) -> None:
    bert, begun = await busy(repairs.world)
    await repairs.world.fail(bert, Code.BMC_CRITICAL)
    await repairs.after(seconds=5)
    assert (await repairs.world.operation(begun[0].operation_id))["error"] is None
    repairs.full = True
    await repairs.after(seconds=120)
    assert (await repairs.world.operation(begun[0].operation_id))["error"] is None
    repairs.full = False
    await repairs.after(seconds=125)
    assert len(repairs.started) == 1
    await preempted(repairs.world, begun, "The cluster gets other hardware.")
    assert await repairs.world.column(PARTITIONS) == ["made unmanaged creating f", "removed absent removed f"]


async def test_what_a_controller_lost_is_made_again_in_place_of_operations_on_partitions(repairs: Repairs) -> None:
    bert, begun = await busy(repairs.world)
    [repair] = [rule.repair for rule in SITE_RULES if rule.name == "cluster_in_use_has_its_allocation"]
    assert isinstance(repair, DatabaseRepair)
    async with repairs.world.database.begin() as connection:
        await repair.run(connection, Violation(str(bert), repairs.world.project.id, "no allocation"))
    await preempted(repairs.world, begun, "The V-IPU controller has lost the cluster's allocation.")
    assert await repairs.world.column(PARTITIONS) == ["made unmanaged missing t", "removed absent removed f"]


async def test_a_window_of_a_zone_that_is_no_longer_known_stops_nobodys_repairs(repairs: Repairs) -> None:
    lost, kept = await repairs.world.make_active("lost"), await repairs.world.make_active("kept")
    await repairs.world.execute(
        "UPDATE clusters SET repair_window = CAST(:window AS jsonb) WHERE id = :id",
        id=lost,
        window=json.dumps(NIGHTS | {"time_zone": "Mars/Olympus"}),
    )
    for each in (lost, kept):
        await repairs.world.fail(each, Code.BMC_CRITICAL)
    await repairs.after(seconds=5)
    for each in (lost, kept):
        scheduled = await repairs.scheduled(each)
        assert scheduled["starts_at"] == "2026-05-05T10:12:00.000000Z"
    await repairs.after(seconds=120)
    assert len(repairs.started) == 2


async def test_a_host_has_an_hour_to_come_back_with_its_disk(repairs: Repairs) -> None:
    bert = await repairs.world.make_active()
    await repairs.world.fail(bert, Code.BMC_CRITICAL)
    await repairs.after(seconds=5)
    await repairs.world.fail(bert, Code.HOST_FAILED, kind="host")
    await repairs.after(seconds=125)
    scheduled = await repairs.scheduled(bert)
    assert (repairs.started, scheduled["starts_at"]) == ([], "2026-05-05T11:10:05.000000Z")
    assert "without the disk of the failed Poplar server" in await repairs.reason(bert)
    await repairs.after(hours=1, seconds=5)
    assert repairs.started == [scheduled["hardware"]]


async def test_a_fault_that_ends_before_its_repair_needs_none(repairs: Repairs) -> None:
    bert = await repairs.world.make_active()
    fault = await repairs.world.fail(bert, Code.BMC_CRITICAL)
    await repairs.after(seconds=5)
    await repairs.world.work_again(bert, fault)
    await repairs.after(seconds=120)
    assert (await repairs.scheduled(bert), repairs.started, await repairs.outcomes()) == (None, [], ["not_needed"])
    assert await repairs.events(bert) == ["repair_scheduled", "repair_ended"]


@pytest.mark.parametrize("code", [Code.SSH_UNREACHABLE, Code.SERVER_OFF, Code.HOST_KEY_CHANGED])
async def test_what_other_hardware_would_not_repair_is_not_repaired(repairs: Repairs, code: Code) -> None:
    bert = await repairs.world.make_active()
    await repairs.world.fail(bert, code, kind="host")
    await repairs.after(hours=1)
    assert (await repairs.scheduled(bert), repairs.started) == (None, [])


async def test_without_automatic_repair_the_customer_decides(repairs: Repairs) -> None:
    bert = await repairs.world.make_active(auto_repair=False)
    await repairs.world.fail(bert, Code.BMC_CRITICAL)
    await repairs.after(hours=1)
    assert (await repairs.scheduled(bert), repairs.started) == (None, [])
    assert "Automatic repair is off: request a repair when it suits you" in await repairs.reason(bert)
    await repairs.world.update(bert, auto_repair=True)
    await repairs.after(hours=1)
    assert len(repairs.started) == 1


async def test_a_repair_waits_for_the_window_and_the_customer_chooses_within_limits(repairs: Repairs) -> None:
    bert = await repairs.world.make_active(repair_window=NIGHTS)
    await repairs.world.fail(bert, Code.BMC_CRITICAL)
    await repairs.after(seconds=120)
    scheduled = await repairs.scheduled(bert)
    assert (scheduled["starts_at"], scheduled["latest_at"]) == (SATURDAY, "2026-05-12T10:12:00.000000Z")
    for starts_at, code in ((NOW, "not_in_future"), (NOW + timedelta(days=8), "too_late")):
        with pytest.raises(Problem) as refused:
            await repairs.reschedule(bert, starts_at)
        assert [fault.code for fault in refused.value.errors] == [code]
    version = await repairs.reschedule(bert, NOW + timedelta(hours=3))
    assert (await repairs.world.cluster(bert))["version"] == version
    assert await repairs.reschedule(bert, NOW + timedelta(hours=3)) == version
    assert "at 2026-05-05 13:10 UTC" in await repairs.reason(bert)
    await repairs.after(hours=3)
    assert len(repairs.started) == 1
    with pytest.raises(Problem, match="operation_in_progress"):
        await repairs.reschedule(bert, NOW + timedelta(hours=4))
    assert await repairs.events(bert) == ["repair_scheduled", "repair_scheduled", "repair_started"]


async def test_another_window_is_another_time(repairs: Repairs) -> None:
    bert = await repairs.world.make_active(repair_window=NIGHTS)
    await repairs.world.fail(bert, Code.BMC_CRITICAL)
    await repairs.after(seconds=5)
    await repairs.world.update(bert, repair_window=NIGHTS | {"days": ["sun"]})
    await repairs.after(seconds=10)
    scheduled = await repairs.scheduled(bert)
    assert scheduled["starts_at"] == "2026-05-10T00:00:00.000000Z"
    await repairs.world.update(bert, repair_window=None)
    await repairs.after(seconds=120)
    assert len(repairs.started) == 1


async def test_without_other_hardware_a_repair_waits_and_says_so(repairs: Repairs) -> None:
    bert = await repairs.world.make_active(repair_window=NIGHTS)
    await repairs.world.fail(bert, Code.BMC_CRITICAL)
    await repairs.after(seconds=5)
    repairs.full = True
    await repairs.after(days=3, hours=14)  # Saturday, 02:10 in Luxembourg
    scheduled = await repairs.scheduled(bert)
    assert (scheduled["starts_at"], scheduled["waits_for"]) == (SATURDAY, "capacity")
    assert "as soon as other hardware is free" in await repairs.reason(bert)
    await repairs.after(days=3, hours=15)
    repairs.full = False
    await repairs.after(days=4)  # the window is over; the next one is after the latest time
    assert repairs.started == []
    await repairs.after(days=7, minutes=1)
    assert len(repairs.started) == 1


async def test_nothing_starts_while_automation_is_halted(repairs: Repairs) -> None:
    bert = await repairs.world.make_active()
    await repairs.world.fail(bert, Code.BMC_CRITICAL)
    await repairs.after(seconds=5)
    async with repairs.world.database.begin() as connection:
        await set_halted(connection, "luxembourg-2", halted=True)
    await repairs.after(seconds=120)
    scheduled = await repairs.scheduled(bert)
    assert (repairs.started, scheduled["waits_for"]) == ([], "operator")
    async with repairs.world.database.begin() as connection:
        await set_halted(connection, "luxembourg-2", halted=False)
    await repairs.after(seconds=125)
    assert len(repairs.started) == 1


async def test_a_region_begins_only_so_many_repairs_an_hour(repairs: Repairs) -> None:
    clusters = [await repairs.world.make_active(f"c{number}") for number in range(6)]
    for cluster in clusters:
        await repairs.world.fail(cluster, Code.BMC_CRITICAL)
    await repairs.after(seconds=120)
    assert len(repairs.started) == 5
    [waiting] = await repairs.world.column("SELECT waits_for FROM scheduled_repairs WHERE operation_id IS NULL")
    assert waiting == "limit"
    await repairs.after(seconds=3721)
    assert len(repairs.started) == 6


async def test_two_tasks_at_once_begin_no_more_repairs_than_the_limit(repairs: Repairs) -> None:
    """One worker was frozen and wakes up while another has taken its place."""
    one, other = [await repairs.world.make_active(name) for name in ("one", "other")]
    for cluster in (one, other):
        await repairs.world.fail(cluster, Code.BMC_CRITICAL)
    await repairs.after(seconds=5)
    repairs.set_clock(NOW + timedelta(seconds=120))
    settings = repairs.world.settings.model_copy(update={"repair_limit": 1})
    project = repairs.world.project.id

    async def serve_other() -> None:
        async with repairs.world.database.begin() as connection:
            await serve(connection, project, other, settings, replace_hardware)

    async def waits() -> bool:
        return bool(await repairs.world.column("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"))

    async with repairs.world.database.begin() as connection:
        await serve(connection, project, one, settings, replace_hardware)
        late = asyncio.create_task(serve_other())
        await until(waits, "the second task waits for the first")
    await late
    assert await repairs.world.column("SELECT waits_for FROM scheduled_repairs WHERE operation_id IS NULL") == ["limit"]


async def test_a_request_that_ends_use_comes_before_the_repair(repairs: Repairs) -> None:
    bert = await repairs.world.make_active()
    await repairs.world.fail(bert, Code.BMC_CRITICAL)
    await repairs.after(seconds=5)
    await repairs.world.suspend(bert)
    assert (await repairs.scheduled(bert), await repairs.outcomes()) == (None, ["superseded"])
    await repairs.after(seconds=120)
    assert repairs.started == []


async def test_a_cluster_is_moved_before_planned_maintenance(repairs: Repairs) -> None:
    bert = await repairs.world.make_active(repair_window=NIGHTS)
    machine = await repairs.plan_maintenance(bert, days=14)
    await repairs.after(seconds=5)
    scheduled = await repairs.scheduled(bert)
    assert (scheduled["reason"], scheduled["hardware"]) == ("maintenance", [machine])
    assert scheduled["starts_at"] == "2026-05-16T00:00:00.000000Z"  # the last window before it
    assert scheduled["latest_at"] == "2026-05-19T10:10:00.000000Z"
    assert (await repairs.world.cluster(bert))["state"] == "active"
    await repairs.after(days=10, hours=14)
    assert repairs.started == [[machine]]


async def test_hardware_that_no_other_replaces_in_time_is_maintained_under_the_cluster(repairs: Repairs) -> None:
    bert = await repairs.world.make_active()
    await repairs.plan_maintenance(bert, days=3)
    repairs.full = True
    await repairs.after(days=3)
    cluster = await repairs.world.cluster(bert)
    assert (cluster["state"], [fault["code"] for fault in cluster["faults"]]) == ("degraded", ["maintenance"])
    assert cluster["billing"]["credited_machines"] == 1
    assert cluster["scheduled_repair"]["waits_for"] == "capacity"
    repairs.full = False
    await repairs.after(days=3, seconds=5)
    assert len(repairs.started) == 1


@pytest.mark.parametrize(("auto_repair", "kind"), [(False, "machine"), (True, "host")])
async def test_what_its_customer_keeps_is_maintained_where_it_is(
    repairs: Repairs, auto_repair: bool, kind: str
) -> None:
    """A Poplar server too: its disk would be lost on another host."""
    bert = await repairs.world.make_active(auto_repair=auto_repair, repair_window=NIGHTS)
    name = await repairs.plan_maintenance(bert, kind=kind, days=10)
    await repairs.after(seconds=5)
    scheduled = await repairs.scheduled(bert)
    assert (scheduled["hardware"], scheduled["starts_at"]) == ([name], "2026-05-15T10:10:00.000000Z")
    await repairs.after(days=10)
    cluster = await repairs.world.cluster(bert)
    assert (cluster["state"], cluster["billing"]["credited_machines"]) == ("degraded", 1)
    assert (cluster["scheduled_repair"], await repairs.outcomes(), repairs.started) == (None, ["maintained"], [])
    await repairs.after(days=10, seconds=5)
    assert await repairs.scheduled(bert) is None


async def test_a_fault_comes_before_maintenance_and_takes_it_along(repairs: Repairs) -> None:
    bert = await repairs.world.make_active(flavor="m2000-pod16")
    maintained = await repairs.plan_maintenance(bert, days=5)
    await repairs.after(seconds=5)
    await repairs.world.fail(bert, Code.BMC_CRITICAL, ordinal=1)
    await repairs.after(seconds=10)
    scheduled = await repairs.scheduled(bert)
    assert (scheduled["reason"], len(scheduled["hardware"])) == ("fault", 2)
    await repairs.after(seconds=125)
    assert maintained in repairs.started[0]
