"""A cluster's life as the worker leads it, against the simulated site over its real protocols."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.factories import make_token
from tests.support.postgres import Database as Scratch
from tests.support.site import SECURE, running_site
from tests.support.world import CALL_SECONDS, SiteWorld, open_site_world

pytestmark = pytest.mark.anyio

SITE = {"machines": 16, "options": SECURE}

# One call of each step that a fault can hold up.
CALL_OF_STEP = {
    "attach_network": "networks.put",
    "power_on_machines": "redfish.reset",
    "create_allocation": "admin.CreateAllocation",
    "create_vipu_user": "admin.CreateAccessKey",
    "test_cluster": "admin.TestCluster",
    "create_partition": "vipu.CreatePartition",
    "deploy_poplar_servers": "hosts.put_server",
}
CLEAN_UP_CALLS = (
    "hosts.delete_server",
    "admin.RemovePartitions",
    "admin.RemoveUser",
    "admin.RemoveAllocation",
    "networks.delete",
)


@pytest.mark.acceptance("SEC21-01", "SEC21-02", "SEC21-05")
async def test_a_cluster_becomes_active_is_billed_and_goes_without_a_trace(world: SiteWorld) -> None:
    before = await world.free_machines()
    async with world.worker():
        cluster_id = await world.build(flavor="m2000-pod16")
        cluster = await world.one("SELECT * FROM clusters WHERE id = :id", id=cluster_id)
        assert (cluster.state, world.partitions()) == ("active", [cluster.external_name])
        assert await world.free_machines() == before - 4
        server = await world.one("SELECT * FROM poplar_servers")
        assert (server.state, server.ssh_user) == ("running", "ubuntu")
        interval = await world.one("SELECT * FROM usage_intervals")
        assert (interval.quantity, interval.ended_at) == (4, None)
        async with world.database.begin() as connection:
            token = await make_token(connection, world.project.id, clusters=[cluster_id])
        await world.succeeded(await world.delete(cluster_id))
    cluster = await world.one("SELECT * FROM clusters WHERE id = :id", id=cluster_id)
    assert cluster.state == "deleted"
    assert await world.value("SELECT ended_at >= started_at FROM usage_intervals")
    assert await world.value("SELECT expires_at > app_now() FROM tokens WHERE id = :id", id=token.id)
    assert await world.free_machines() == before
    await world.assert_nothing_left()
    cleanings = await world.rows(
        "SELECT machine_id IS NULL AS host, external_name = :name AS named, observed, observed_at BETWEEN released_at"
        " AND freed_at AS between FROM hardware_cleanings JOIN allocations ON id = allocation_id ORDER BY machine_id",
        name=cluster.external_name,
    )
    machine = {"power": "Off", "network": "none", "vipu_allocation": "none", "partitions": "none"}
    host = {"server": "none", "disk": "wiped", "network": "none", "vipu_allocation": "none", "partitions": "none"}
    assert [tuple(each) for each in cleanings] == [*[(False, True, machine, True)] * 4, (True, True, host, True)]


@pytest.mark.acceptance("CAP04-02")
async def test_two_pods_at_once_never_share_a_machine(world: SiteWorld) -> None:
    async with world.worker(), world.worker():
        creations = [await world.create(f"c{number}", "m2000-pod4") for number in range(16)]
        states = {(await world.finished(each)).state for each in creations}
    assert states == {"succeeded"}
    assert len(world.partitions()) == 16


@pytest.mark.sample(3)
@pytest.mark.parametrize("step", CALL_OF_STEP)
@pytest.mark.parametrize("action", ["drop_answer", "stall"])
async def test_a_call_that_is_not_answered_is_asked_again(world: SiteWorld, action: str, step: str) -> None:
    """Whether it had its effect or not: there is one partition, and nothing is left of it."""
    world.fault(call=CALL_OF_STEP[step], action=action, times=1)
    async with world.worker(site_call_timeout=CALL_SECONDS if action == "drop_answer" else 2.0):
        await world.build(flavor="m2000-pod16")
        assert len(world.partitions()) == 1


@pytest.mark.parametrize("step", CALL_OF_STEP)
async def test_delete_takes_over_whatever_the_create_is_doing(world: SiteWorld, step: str) -> None:
    world.fault(call=CALL_OF_STEP[step], action="status", status=503, grpc_status="UNAVAILABLE")
    async with world.worker():
        creation = await world.create(flavor="m2000-pod16")
        await world.reached(creation.operation_id, step)
        deletion = await world.delete(creation.target_id)
        await world.succeeded(deletion)
        preempted = await world.finished(creation.operation_id)
    assert (preempted.state, preempted.error["code"]) == ("failed", "preempted")
    assert await world.value("SELECT count(*) FROM usage_intervals") == 0
    await world.assert_nothing_left()


@pytest.mark.sample(3)
@pytest.mark.parametrize("step", CALL_OF_STEP)
async def test_a_refused_step_is_undone_and_says_why(world: SiteWorld, step: str) -> None:
    world.fault(call=CALL_OF_STEP[step], action="status", status=422, grpc_status="INVALID_ARGUMENT")
    async with world.worker():
        creation = await world.create(flavor="m2000-pod16")
        ended = await world.finished(creation.operation_id)
    assert (ended.state, ended.error["code"]) == ("failed", "site_refused")
    assert step in ended.error["detail"]
    shown = await world.one("SELECT state, state_reason FROM clusters")
    assert shown.state == "error"
    assert shown.state_reason, "a cluster in error says why"
    assert await world.value("SELECT count(*) FROM usage_intervals") == 0
    await world.assert_nothing_left()


async def test_a_failed_cluster_can_be_deleted_and_its_name_used_again(world: SiteWorld) -> None:
    world.fault(call="vipu.CreatePartition", action="status", grpc_status="INVALID_ARGUMENT", times=1)
    async with world.worker():
        creation = await world.create(flavor="m2000-pod16")
        await world.finished(creation.operation_id)
        await world.succeeded(await world.delete(creation.target_id))
        again = await world.create(flavor="m2000-pod16")
        await world.succeeded(again.operation_id)


@pytest.mark.sample(3)
@pytest.mark.parametrize("call", CLEAN_UP_CALLS)
async def test_clean_up_goes_on_until_it_holds(world: SiteWorld, call: str) -> None:
    async with world.worker():
        creation = await world.create(flavor="m2000-pod16")
        await world.finished(creation.operation_id)
        world.fault(call=call, action="status", status=503, grpc_status="UNAVAILABLE", times=7)
        world.fault(call=call, action="drop_answer", times=1)
        await world.succeeded(await world.delete(creation.target_id))
    await world.assert_nothing_left()


async def test_machines_stay_held_until_no_old_request_can_take_effect(world: SiteWorld) -> None:
    before = await world.free_machines()
    async with world.worker(request_life=3600.0):
        creation = await world.create(flavor="m2000-pod16")
        await world.finished(creation.operation_id)
        deletion = await world.delete(creation.target_id)
        await world.reached(deletion, "verify_clean")
        assert await world.free_machines() == before - 4
    async with world.worker():
        await world.execute("UPDATE work SET run_at = app_now() WHERE kind = 'cluster'")
        await world.succeeded(deletion)
    assert await world.free_machines() == before


async def test_the_site_may_be_restarted_in_the_middle(database: Scratch, tmp_path: Path) -> None:
    with running_site(tmp_path / "site", machines=16, time_scale=300.0) as site:
        async with open_site_world(database, site) as world, world.worker():
            creation = await world.create(flavor="m2000-pod16")
            for step in ("test_cluster", "deploy_poplar_servers"):
                await world.reached(creation.operation_id, step)
                await asyncio.to_thread(site.kill)
                await asyncio.to_thread(site.start)
            await world.succeeded(creation.operation_id)
            assert len(world.partitions()) == 1


async def test_a_create_past_its_deadline_is_undone(world: SiteWorld) -> None:
    world.fault(call="admin.CreateAllocation", action="status", grpc_status="UNAVAILABLE")
    async with world.worker():
        creation = await world.create(flavor="m2000-pod16")
        await world.reached(creation.operation_id, "create_allocation")
        await world.execute("UPDATE operations SET deadline_at = app_now() - interval '1 second'")
        ended = await world.finished(creation.operation_id)
    assert (ended.state, ended.error["code"]) == ("failed", "deadline_exceeded")
    await world.assert_nothing_left()
