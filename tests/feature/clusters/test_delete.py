"""A delete is accepted in every state; billing ends with it, and the rest is a worker's."""

from __future__ import annotations

from uuid import uuid4

import pytest

from ipucloud.contract.clusters import ClusterState
from ipucloud.kernel.errors import Problem
from tests.support.factories import make_project
from tests.support.world import World

pytestmark = pytest.mark.anyio

DELETABLE = sorted(set(ClusterState) - {ClusterState.DELETING, ClusterState.DELETED})


async def test_a_delete_opens_an_operation_asks_for_a_worker_and_ends_billing(world: World) -> None:
    bert = await world.make_active()
    await world.execute("UPDATE work SET run_at = NULL, claimed_seq = wake_seq")
    gone = await world.delete(bert)
    cluster = await world.cluster(bert)
    assert (cluster["state"], cluster["billing"]["status"]) == ("deleting", "ended")
    assert await world.column("SELECT ended_at FROM usage_intervals WHERE ended_at IS NULL") == []
    assert cluster["operation"]["id"] == str(gone.operation_id)
    assert (cluster["stage"], cluster["state_sla_seconds"]) == ("CLUSTER_CLEAN_UP", 300)
    operation = await world.operation(gone.operation_id)
    shown = (operation["kind"], operation["state"], operation["cancellable"])
    assert shown == ("cluster.delete", "queued", False)
    assert await world.column("SELECT wake_seq > claimed_seq AND run_at IS NOT NULL FROM work") == [True]
    assert (await world.column("SELECT type FROM events ORDER BY id"))[-2:] == ["operation.created", "cluster.deleting"]


@pytest.mark.parametrize("state", DELETABLE)
async def test_a_delete_is_accepted_in_every_state(world: World, state: str) -> None:
    created = await world.create()
    await world.execute("UPDATE clusters SET state = :state", state=state)
    await world.delete(created.target_id)
    assert (await world.cluster(created.target_id))["state"] == "deleting"


async def test_deleted_before_it_was_ready_a_cluster_costs_nothing_and_its_create_is_preempted(world: World) -> None:
    created = await world.create()
    await world.delete(created.target_id)
    preempted = await world.operation(created.operation_id)
    assert (preempted["state"], preempted["done"], preempted["error"]["code"]) == ("failed", True, "preempted")
    assert await world.column("SELECT count(*) FROM usage_intervals") == [0]
    assert (await world.cluster(created.target_id))["billing"]["status"] == "not_started"


async def test_machines_and_quota_stay_taken_until_the_clean_up_was_verified(world: World) -> None:
    created = await world.create(flavor="m2000-pod64")
    await world.delete(created.target_id)
    with pytest.raises(Problem, match="capacity_exhausted"):
        await world.create("second")
    assert await world.column("SELECT used FROM quotas WHERE region = 'luxembourg-2'") == [16]


async def test_asked_again_the_running_delete_is_the_answer(world: World) -> None:
    created = await world.create()
    first = await world.delete(created.target_id, if_match=1)
    assert await world.delete(created.target_id, if_match=1) == first
    assert await world.column("SELECT count(*) FROM operations WHERE kind = 'cluster.delete'") == [1]


async def test_a_clean_up_that_was_given_up_says_so_and_is_taken_up_when_asked_again(world: World) -> None:
    created = await world.create()
    await world.delete(created.target_id)
    await world.execute("UPDATE work SET run_at = NULL, parked_at = app_now(), last_error = 'no progress'")
    assert "waits for an operator" in (await world.cluster(created.target_id))["blocked_by"]
    await world.delete(created.target_id)
    assert (await world.cluster(created.target_id))["blocked_by"] is None
    assert await world.column("SELECT run_at IS NOT NULL AND parked_at IS NULL FROM work") == [True]


async def test_a_deleted_cluster_can_be_read_but_not_deleted_again(world: World) -> None:
    created = await world.create()
    await world.delete(created.target_id)
    await world.finish_delete(created.target_id)
    assert (await world.cluster(created.target_id))["state"] == "deleted"
    with pytest.raises(Problem, match="not_found"):
        await world.delete(created.target_id)


async def test_a_protected_cluster_stays(world: World) -> None:
    created = await world.create(delete_protection=True)
    with pytest.raises(Problem, match="delete_protected"):
        await world.delete(created.target_id)
    assert (await world.cluster(created.target_id))["state"] == "creating"
    await world.update(created.target_id, delete_protection=False)
    await world.delete(created.target_id)


async def test_a_stale_version_changes_nothing_and_the_present_one_is_in_the_refusal(world: World) -> None:
    created = await world.create()
    await world.update(created.target_id, name="renamed")
    with pytest.raises(Problem) as raised:
        await world.delete(created.target_id, if_match=1)
    assert (raised.value.kind.code, raised.value.extra["version"]) == ("precondition_failed", 2)
    assert (await world.cluster(created.target_id))["state"] == "creating"
    await world.delete(created.target_id, if_match=2)


async def test_a_cluster_of_another_project_does_not_exist(world: World) -> None:
    async with world.database.begin() as connection:
        stranger = await make_project(connection)
    created = await world.create()
    with pytest.raises(Problem) as foreign:
        await world.customer(stranger).delete(created.target_id)
    with pytest.raises(Problem) as unknown:
        await world.customer(stranger).delete(uuid4())
    assert foreign.value.document() == unknown.value.document()
    assert (await world.cluster(created.target_id))["state"] == "creating"
