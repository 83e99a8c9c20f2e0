"""Machines that no cluster holds are tested at the simulated site before a cluster gets them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from ipucloud.admin.actions import Operator, Order, have_validated, put, return_to_service
from ipucloud.contract.operator_hardware import HardwareSelection
from ipucloud.inventory.health.codes import Code
from ipucloud.inventory.sync import sync
from ipucloud.kernel.ids import new_id
from ipucloud.operations.freezes import Freeze, end_freeze, freeze
from ipucloud.site.vipu_ports import Allocation
from ipucloud.wire.faults import FaultAction
from ipucloud.worker.sweep import sweep_leftovers
from tests.support.breakable import repair_everything
from tests.support.waiting import until
from tests.support.world import SiteWorld
from tests.worker.customers import refused

pytestmark = pytest.mark.anyio

SITE = {"machines": 4}

OPERATOR = Operator(new_id(), "test")

RELEASE: dict[str, Any] = {"validation": frozenset({"release"})}
REPAIR: dict[str, Any] = {"validation": frozenset({"repair"}), "observation_interval": 0.05}
ENDED = """
SELECT m.name, v.reason, v.result, v.findings, v.name AS batch
  FROM hardware_validations v JOIN machines m ON m.id = v.machine_id WHERE v.ended_at IS NOT NULL
 ORDER BY v.ended_at, m.name
"""
LUXEMBOURG = "SELECT name FROM machines WHERE name LIKE 'lux2%' ORDER BY slot"
FREE = "SELECT sum(bit_count(free_mask::bit(16)))::int FROM pods WHERE region = 'luxembourg-2'"
LIVE = "SELECT code FROM health_reports WHERE cleared_at IS NULL ORDER BY code"


@pytest.fixture
async def world(world: SiteWorld) -> AsyncIterator[SiteWorld]:
    yield world
    world.clear_faults()
    repair_everything(world)
    async with world.worker():
        await world.delete_all()
        await nothing_is_validated(world)
    assert await world.findings() == []


async def nothing_is_validated(world: SiteWorld) -> None:
    ended = "SELECT count(*) = 0 FROM hardware_validations WHERE ended_at IS NULL"
    await until(lambda: world.value(ended), "every validation ends")


async def begins(world: SiteWorld) -> str:
    """The name of the validation that is under way."""
    under_way = "SELECT min(name) FROM hardware_validations WHERE name IS NOT NULL AND ended_at IS NULL"
    await until(lambda: world.value(under_way), "a validation begins")
    return str(await world.value(under_way))


async def validate(world: SiteWorld, *machines: str) -> None:
    async with world.database.begin() as connection:
        await have_validated(connection, HardwareSelection(machines=list(machines)), new_id())


async def test_machines_that_a_cluster_left_are_tested_together_before_the_next_one_gets_them(world: SiteWorld) -> None:
    async with world.worker(**RELEASE):
        first = await world.build(flavor="m2000-pod16")
        world.fault(call="admin.TestCluster", action=FaultAction.STATUS)
        await world.succeeded(await world.delete(first))
        assert await world.value(FREE) == 0
        problem = await refused(world.create("next", flavor="m2000-pod16"))
        assert "being validated: 4" in str(problem)
        why: Any = problem.extra["why_not"]
        assert (why["reason"], why["numbers"]["validating"], why["numbers"]["missing"]) == ("capacity", 4, 4)
        await begins(world)
        assert await world.findings() == []
        world.clear_faults()
        await nothing_is_validated(world)
        assert await world.value(FREE) == 4
        ended = await world.rows(ENDED)
        assert [(each.reason, each.result) for each in ended] == [("release", "passed")] * 4
        assert len({each.batch for each in ended}) == 1
        await world.build("next", flavor="m2000-pod16")


async def test_no_validation_begins_while_removals_are_frozen(world: SiteWorld) -> None:
    [name, *_] = await world.column(LUXEMBOURG)
    async with world.database.begin() as connection:
        expires_at = datetime.now(UTC) + timedelta(hours=1)
        freeze_id = await freeze(connection, Freeze("luxembourg-2", "wrong answers", expires_at, new_id()))
    await validate(world, name)
    rests = "SELECT count(*) = 1 FROM work WHERE kind = 'validation' AND lease_owner IS NULL AND run_at > app_now()"
    async with world.worker():
        await until(lambda: world.value(rests), "the validation was postponed")
        assert await world.column("SELECT name FROM hardware_validations") == [None]
        async with world.database.begin() as connection:
            assert await end_freeze(connection, freeze_id, reason="they are right again", ended_by=new_id())
        await nothing_is_validated(world)
    assert [each.result for each in await world.rows(ENDED)] == ["passed"]


async def test_machines_with_a_broken_cable_between_them_fail_and_the_others_pass(world: SiteWorld) -> None:
    names = await world.column(LUXEMBOURG)
    async with world.worker():
        world.http.post(f"/v1/machines/{names[0]}/links/next:fail", json={"state": "down"}).raise_for_status()
        await validate(world, *names)
        await nothing_is_validated(world)
        failed = {each.name: each.findings for each in await world.rows(ENDED) if each.result == "failed"}
        assert sorted(failed) == names[:2]
        assert all("next link" in findings for findings in failed.values())
        assert await world.value(FREE) == 2
        assert (await world.column(LIVE)).count("validation_failed") == 2
        world.http.post(f"/v1/machines/{names[0]}/links/next:repair").raise_for_status()
        await validate(world, *names[:2])
        await nothing_is_validated(world)
        assert "validation_failed" not in await world.column(LIVE)
        await until(lambda: world.value(f"{FREE} HAVING sum(bit_count(free_mask::bit(16))) = 4"), "all are free")


async def test_a_repaired_machine_is_tested_before_a_cluster_gets_it(world: SiteWorld) -> None:
    [name, *_] = await world.column(LUXEMBOURG)
    async with world.worker(**REPAIR):
        world.http.post(f"/v1/machines/{name}:fail").raise_for_status()
        await until(lambda: _live(world, ["bmc_critical"]))
        world.fault(call="admin.TestCluster", action=FaultAction.STATUS)
        world.http.post(f"/v1/machines/{name}:repair").raise_for_status()
        await until(lambda: _live(world, ["not_validated"]))
        assert await world.value(FREE) == 3
        world.clear_faults()
        await nothing_is_validated(world)
        assert await world.value(FREE) == 4
        assert [(each.name, each.reason, each.result) for each in await world.rows(ENDED)] == [
            (name, "repair", "passed")
        ]


async def test_a_machine_that_is_new_in_the_inventory_is_tested_before_the_first_cluster_gets_it(
    world: SiteWorld,
) -> None:
    [name, *others] = await world.column(LUXEMBOURG)
    with psycopg.connect(world.scratch.superuser_url, autocommit=True) as connection:
        connection.execute("DELETE FROM machines WHERE name = %s", [name])
    await sync(world.database, world.sites, validated=True)
    assert await world.column("SELECT name FROM machines WHERE validating") == [name]
    assert await world.value(FREE) == len(others)
    async with world.worker():
        await nothing_is_validated(world)
    assert [(each.name, each.reason, each.result) for each in await world.rows(ENDED)] == [(name, "intake", "passed")]
    assert await world.value(FREE) == len(others) + 1
    await sync(world.database, world.sites, validated=True)
    assert await world.value("SELECT count(*) FROM hardware_validations") == 1


async def _live(world: SiteWorld, codes: list[str]) -> bool:
    return await world.column(LIVE) == codes


async def test_maintenance_interrupts_a_validation_which_follows_after_it(world: SiteWorld) -> None:
    [name, other, *_] = await world.column(LUXEMBOURG)
    selection = HardwareSelection(machines=[name])
    world.fault(call="admin.CreateAllocation", action=FaultAction.STATUS)
    async with world.worker():
        await validate(world, name, other)
        batch = await begins(world)
        async with world.database.begin() as connection:
            await put(connection, selection, Order(Code.MAINTENANCE, "a new fan", None, OPERATOR))
        abandoned = "SELECT count(*) = 2 FROM hardware_validations WHERE result = 'abandoned' AND ended_at IS NOT NULL"
        await until(lambda: world.value(abandoned), "the validation is abandoned")
        world.clear_faults()
        other_is_free = "SELECT allocatable FROM machines WHERE name = :name"
        await until(lambda: world.value(other_is_free, name=other), "the other machine is validated")
        async with world.database.begin() as connection:
            await return_to_service(connection, selection, OPERATOR, validated=True)
        await nothing_is_validated(world)
        passed = {each.name: each.batch for each in await world.rows(ENDED) if each.result == "passed"}
        assert sorted(passed) == sorted([name, other])
        assert batch not in passed.values()
        assert await world.value(FREE) == 4


async def test_a_machine_in_use_is_left_alone(world: SiteWorld) -> None:
    async with world.worker():
        await world.build(flavor="m2000-pod16")
        name = await world.value("SELECT min(name) FROM machines WHERE name LIKE 'lux2%'")
        assert "no cluster holds" in str(await refused(validate(world, name)))
        assert await world.value("SELECT count(*) FROM hardware_validations") == 0


async def test_what_a_late_request_makes_after_a_validation_is_removed(world: SiteWorld) -> None:
    [name, *_] = await world.column(LUXEMBOURG)
    async with world.worker():
        await validate(world, name)
        await nothing_is_validated(world)
    [ended] = await world.rows(ENDED)
    site = await world.site_client()
    pod = await world.value("SELECT vipu_cluster_id FROM pods WHERE region = 'luxembourg-2'")
    await site.vipu.create_allocation(Allocation(ended.batch, pod, frozenset({name})))
    [finding] = await world.findings()
    assert (finding.rule.name, finding.violation.object_id) == ("allocation_belongs_to_a_cluster", ended.batch)
    for _ in range(2):
        await sweep_leftovers(world.database, world.sites, call_timeout=20.0)
    assert await site.vipu.allocation(ended.batch) is None
