"""Why partitions do not work, as their controller says it; and partitions that it lost with their allocation."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any
from uuid import UUID

import orjson
import pytest

from ipucloud.partitions.queries import partition_document
from ipucloud.partitions.topology import topology
from ipucloud.wire.faults import FaultAction
from ipucloud.worker.sweep import sweep_leftovers
from tests.support.breakable import open_emptied_world
from tests.support.site import RunningSite
from tests.support.vipu import VipuDriver
from tests.support.waiting import PATIENCE, until
from tests.support.world import SiteWorld
from tests.worker.test_observation import REGION, observe

pytestmark = pytest.mark.anyio

SITE = {"machines": 16}
WORLD = partial(open_emptied_world, partitions_quiet_interval=0.1)

SAID = "3 of 4 IPUs came up"


@pytest.fixture
def vipu(site: RunningSite) -> VipuDriver:
    return VipuDriver(site.channel())


async def divided(world: SiteWorld, *partitions: str) -> UUID:
    """A cluster whose own partition was removed to make room for these of 4 IPUs; a worker is at work."""
    cluster = await world.build(flavor="m2000-pod16")
    await world.succeeded(await world.remove_partition(cluster, await world.external_name(cluster)))
    for name in partitions:
        await world.succeeded(await world.create_partition(cluster, name))
    return cluster


def fail_partitions(world: SiteWorld, call: str, failures: int) -> None:
    """The partition of the next such call fails so often, and its controller says why."""
    world.fault(call=f"vipu.{call}", action=FaultAction.FAIL_PARTITION, error=SAID, failures=failures, times=1)


async def document(world: SiteWorld, cluster: UUID, name: str) -> dict[str, Any]:
    async with world.database.begin() as connection:
        text = await partition_document(connection, project_id=world.project.id, cluster_id=cluster, ref=name)
    shown: dict[str, Any] = orjson.loads(text)
    return shown


async def test_a_partition_that_its_controller_resets_is_waited_for(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await divided(world)
        fail_partitions(world, "CreatePartition", 2)
        operation = await world.succeeded(await world.create_partition(cluster, "training", 4))
        assert operation.error is None
        shown = await document(world, cluster, "training")
        assert (shown["state"], shown["state_reason"], shown["controller"]) == ("active", None, None)


async def test_a_create_waits_while_the_controller_resets_the_clusters_partition(world: SiteWorld) -> None:
    async with world.worker():
        fail_partitions(world, "CreatePartition", 2)
        cluster = await world.build(flavor="m2000-pod16")
        attempts = await world.column(
            "SELECT s.state FROM operation_steps s JOIN operations o ON o.id = s.operation_id"
            " WHERE o.cluster_id = :id AND s.name = 'create_partition'",
            id=cluster,
        )
        assert attempts == ["succeeded"], "the partition was not removed and made again"
        assert len(world.partitions()) == 1


async def test_a_partition_that_its_controller_gives_up_fails_with_what_it_said(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await divided(world)
        fail_partitions(world, "CreatePartition", 9)
        failed = await world.finished(await world.create_partition(cluster, "training", 4))
        assert (failed.state, failed.error["code"]) == ("failed", "partition_failed")
        assert SAID in failed.error["detail"]
        (error,) = failed.error["errors"]
        assert SAID in error
        assert failed.error["resets"] == 3
        assert world.partitions() == []


async def test_a_reset_that_fails_ends_while_its_machines_are_observed_good(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await divided(world, "training")
        fail_partitions(world, "ResetPartition", 4)
        resetting = await world.reset_partition(cluster, "training")

        async def ended() -> bool:
            await observe(world)
            finished = "SELECT finished_at IS NOT NULL FROM operations WHERE id = :id"
            return bool(await world.value(finished, id=resetting.operation_id))

        await until(ended, "the reset ends")
        failed = await world.finished(resetting)
        assert (failed.state, failed.error["code"]) == ("failed", "partition_failed")


async def test_a_partition_in_error_shows_what_its_controller_says(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await divided(world, "training")
        fail_partitions(world, "ResetPartition", 9)
        failed = await world.finished(await world.reset_partition(cluster, "training"))
        assert SAID in failed.error["detail"]
        await until(lambda: world.value("SELECT state = 'error' FROM partitions WHERE name = 'training'"))
        shown = await document(world, cluster, "training")
        assert SAID in shown["state_reason"]
        controller = shown["controller"]
        (error,) = controller["errors"]
        assert SAID in error
        assert controller["operation_state"] == "failed"
        assert (controller["auto_resets"], controller["max_auto_resets"]) == (3, 3)
        assert controller["last_auto_reset_at"] is not None
        assert controller["observed_at"] is not None
        async with world.database.read() as connection:
            drawing = await topology(connection, project_id=world.project.id, cluster_id=cluster)
        (drawn,) = [each for each in drawing.partitions if each.name == "training"]
        assert drawn.controller is not None
        assert (drawn.state_reason, drawn.controller.errors) == (shown["state_reason"], controller["errors"])
        assert (drawn.controller.auto_resets, drawn.controller.max_auto_resets) == (3, 3)
        events = await world.column("SELECT data->>'reason' FROM events WHERE type = 'partition.error'")
        assert events
        assert all(SAID in reason for reason in events)


async def test_an_id_of_another_allocation_is_not_in_the_way(world: SiteWorld, vipu: VipuDriver) -> None:
    async with world.worker():
        cluster = await divided(world)
        other = await world.build("other", flavor="m2000-pod4")
        others_name = await world.external_name(other)
        await world.succeeded(await world.remove_partition(other, others_name))
        squatted = f"{await world.external_name(cluster)}-1"
        await asyncio.to_thread(vipu.create, squatted, 4, allocation_id=others_name)
        await world.succeeded(await world.create_partition(cluster, "training", 4))
        assert world.partitions() == [squatted, squatted]
        await world.succeeded(await world.remove_partition(cluster, "training"))
        assert world.partitions() == [squatted]


async def test_an_id_that_the_customer_has_taken_is_left_out(world: SiteWorld, vipu: VipuDriver) -> None:
    async with world.worker():
        cluster = await divided(world)
        name = await world.external_name(cluster)
        await asyncio.to_thread(vipu.create, f"{name}-1", 2, allocation_id=name)
        await until(lambda: world.value("SELECT count(*) = 1 FROM partitions WHERE origin = 'customer'"))
        await world.succeeded(await world.create_partition(cluster, "training", 4))
        await world.succeeded(await world.create_partition(cluster, "serving", 4))
        assert world.partitions() == [f"{name}-{number}" for number in (1, 2, 3)]
        assert len(vipu.partitions(name)[f"{name}-1"].spec.ipus) == 2, "the customer's own is what it was"


@pytest.mark.parametrize(
    ("call", "action"),
    [
        ("vipu.ListPartitions", FaultAction.STATUS),  # nothing was asked for yet
        ("vipu.CreatePartition", FaultAction.STATUS),  # it was refused
        ("vipu.CreatePartition", FaultAction.HANG_PARTITION),  # it is being made
    ],
)
async def test_a_create_is_cancelled_at_every_boundary(world: SiteWorld, call: str, action: FaultAction) -> None:
    async with world.worker():
        cluster = await divided(world)
        status = {} if action is FaultAction.HANG_PARTITION else {"grpc_status": "UNAVAILABLE"}
        world.fault(call=call, action=action, **status)
        making = await world.create_partition(cluster, "training", 4)
        await world.hit(call)
        assert await world.cancel(making)
        world.clear_faults()
        assert (await world.finished(making)).state == "cancelled"
        assert world.partitions() == []
        await until(lambda: world.value("SELECT state = 'removed' FROM partitions WHERE name = 'training'"))
        assert not await world.cancel(making)


async def test_a_cancelled_reset_leaves_the_partition(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await divided(world, "training")
        world.fault(call="vipu.ResetPartition", action=FaultAction.STATUS, grpc_status="UNAVAILABLE")
        resetting = await world.reset_partition(cluster, "training")
        await world.hit("vipu.ResetPartition")
        assert await world.cancel(resetting)
        world.clear_faults()
        assert (await world.finished(resetting)).state == "cancelled"
        await until(lambda: world.value("SELECT state = 'active' FROM partitions WHERE name = 'training'"))


async def test_a_lost_allocation_is_seen_credited_and_made_again_with_its_partitions(
    world: SiteWorld, vipu: VipuDriver
) -> None:
    async with world.worker():
        cluster = await divided(world)
        name = await world.external_name(cluster)
        await world.succeeded(await world.create_partition(cluster, "small", 4))
        await world.succeeded(await world.create_partition(cluster, "training", 8, gcds=2))
        await asyncio.to_thread(vipu.create, "mine", 2, allocation_id=name)
        await until(lambda: world.value("SELECT count(*) = 1 FROM partitions WHERE name = 'mine' AND state = 'active'"))
        before = vipu.partitions(name)
        world.http.post(f"/v1/controllers/{REGION}:forget").raise_for_status()
        refused = await world.finished(await world.create_partition(cluster, "late", 2))
        assert (refused.error["code"], refused.error["rule"]) == ("partition_failed", "allocation_lost")
        await until(lambda: world.value("SELECT bool_and(state = 'missing') FROM partitions WHERE removed_at IS NULL"))
        assert "allocation" in (await document(world, cluster, "mine"))["state_reason"]
        await observe(world)
        assert await world.value("SELECT state FROM clusters WHERE id = :id", id=cluster) == "active"
        await observe(world)
        degraded = await world.one("SELECT state, state_reason FROM clusters WHERE id = :id", id=cluster)
        assert degraded.state == "degraded"
        assert f"allocation {name}" in degraded.state_reason
        assert degraded.state_reason.endswith("the cluster is not billed.")
        faults = await world.column("SELECT DISTINCT code FROM health_reports WHERE cleared_at IS NULL")
        assert faults == ["allocation_lost"]
        await sweep_leftovers(world.database, world.sites, call_timeout=PATIENCE)
        await sweep_leftovers(world.database, world.sites, call_timeout=PATIENCE)
        (repair,) = await world.column("SELECT id FROM operations WHERE kind = 'cluster.repair'")
        await world.succeeded(repair)
        await until(lambda: world.value("SELECT bool_and(state = 'active') FROM partitions WHERE removed_at IS NULL"))
        after = vipu.partitions(name)
        assert {key: shape_of(each) for key, each in after.items()} == {
            key: shape_of(each) for key, each in before.items()
        }
        for _ in range(3):
            await observe(world)
        assert await world.value("SELECT state FROM clusters WHERE id = :id", id=cluster) == "active"
        await asyncio.to_thread(vipu.remove, "mine")
        await until(lambda: world.value("SELECT count(*) = 0 FROM partitions WHERE name = 'mine'"))


def shape_of(partition: Any) -> tuple[int, int, int, bool]:
    spec = partition.spec
    return len(spec.ipus), spec.num_gcds, spec.num_ipulink_segments, spec.reconfigurable
