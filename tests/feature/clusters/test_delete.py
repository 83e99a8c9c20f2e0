"""A delete is accepted in every state; billing ends with it, and the rest is a worker's."""

from __future__ import annotations

from uuid import uuid4

import pytest

from ipucloud.contract.clusters import ClusterState
from ipucloud.kernel.errors import Problem
from tests.support.cloud import Cloud
from tests.support.factories import make_project

pytestmark = pytest.mark.anyio

DELETABLE = sorted(set(ClusterState) - {ClusterState.DELETING, ClusterState.DELETED})


async def test_a_delete_opens_an_operation_and_asks_for_a_worker(cloud: Cloud) -> None:
    created = await cloud.create()
    await cloud.finish_create(created.target_id)
    await cloud.execute("UPDATE work SET run_at = NULL, claimed_seq = wake_seq")
    gone = await cloud.delete(created.target_id)
    cluster = await cloud.cluster(created.target_id)
    assert cluster["state"] == "deleting"
    assert cluster["operation"]["id"] == str(gone.operation_id)
    assert cluster["stage"] == "CLUSTER_CLEAN_UP"
    assert cluster["state_sla_seconds"] == 300
    operation = await cloud.operation(gone.operation_id)
    assert (operation["kind"], operation["state"]) == ("cluster.delete", "queued")
    assert not operation["cancellable"]
    assert await cloud.column("SELECT wake_seq > claimed_seq AND run_at IS NOT NULL FROM work") == [True]
    assert (await cloud.column("SELECT type FROM events ORDER BY id"))[-2:] == ["operation.created", "cluster.deleting"]


@pytest.mark.parametrize("state", DELETABLE)
async def test_a_delete_is_accepted_in_every_state(cloud: Cloud, state: str) -> None:
    created = await cloud.create()
    await cloud.execute("UPDATE clusters SET state = :state", state=state)
    await cloud.delete(created.target_id)
    assert (await cloud.cluster(created.target_id))["state"] == "deleting"


async def test_what_ran_on_the_cluster_ends_as_preempted(cloud: Cloud) -> None:
    created = await cloud.create()
    await cloud.delete(created.target_id)
    preempted = await cloud.operation(created.operation_id)
    assert (preempted["state"], preempted["done"], preempted["error"]["code"]) == ("failed", True, "preempted")


async def test_billing_ends_in_the_transaction_that_accepts_the_delete(cloud: Cloud) -> None:
    created = await cloud.create()
    await cloud.finish_create(created.target_id)
    await cloud.delete(created.target_id)
    assert await cloud.column("SELECT ended_at FROM usage_intervals WHERE ended_at IS NULL") == []
    assert (await cloud.cluster(created.target_id))["billing"]["status"] == "ended"


async def test_a_cluster_deleted_before_it_was_ready_costs_nothing(cloud: Cloud) -> None:
    created = await cloud.create()
    await cloud.delete(created.target_id)
    assert await cloud.column("SELECT count(*) FROM usage_intervals") == [0]
    assert (await cloud.cluster(created.target_id))["billing"]["status"] == "not_started"


async def test_machines_and_quota_stay_taken_until_the_clean_up_was_verified(cloud: Cloud) -> None:
    created = await cloud.create(flavor="m2000-pod64")
    await cloud.delete(created.target_id)
    with pytest.raises(Problem, match="capacity_exhausted"):
        await cloud.create("second")
    assert await cloud.column("SELECT used FROM quotas WHERE region = 'luxembourg-2'") == [16]


async def test_asked_again_the_running_delete_is_the_answer(cloud: Cloud) -> None:
    created = await cloud.create()
    first = await cloud.delete(created.target_id, if_match=1)
    assert await cloud.delete(created.target_id, if_match=1) == first
    assert await cloud.column("SELECT count(*) FROM operations WHERE kind = 'cluster.delete'") == [1]


async def test_a_clean_up_that_was_given_up_says_so_and_is_taken_up_when_asked_again(cloud: Cloud) -> None:
    created = await cloud.create()
    await cloud.delete(created.target_id)
    await cloud.execute("UPDATE work SET run_at = NULL, parked_at = app_now(), last_error = 'no progress'")
    assert "waits for an operator" in (await cloud.cluster(created.target_id))["blocked_by"]
    await cloud.delete(created.target_id)
    assert (await cloud.cluster(created.target_id))["blocked_by"] is None
    assert await cloud.column("SELECT run_at IS NOT NULL AND parked_at IS NULL FROM work") == [True]


async def test_a_deleted_cluster_can_be_read_but_not_deleted_again(cloud: Cloud) -> None:
    created = await cloud.create()
    await cloud.delete(created.target_id)
    await cloud.finish_delete(created.target_id)
    assert (await cloud.cluster(created.target_id))["state"] == "deleted"
    with pytest.raises(Problem, match="not_found"):
        await cloud.delete(created.target_id)


async def test_a_protected_cluster_stays(cloud: Cloud) -> None:
    created = await cloud.create(delete_protection=True)
    with pytest.raises(Problem, match="delete_protected"):
        await cloud.delete(created.target_id)
    assert (await cloud.cluster(created.target_id))["state"] == "creating"
    await cloud.update(created.target_id, delete_protection=False)
    await cloud.delete(created.target_id)


async def test_a_stale_version_changes_nothing_and_the_present_one_is_told(cloud: Cloud) -> None:
    created = await cloud.create()
    await cloud.update(created.target_id, name="renamed")
    with pytest.raises(Problem) as raised:
        await cloud.delete(created.target_id, if_match=1)
    assert (raised.value.kind.code, raised.value.extra["version"]) == ("precondition_failed", 2)
    assert (await cloud.cluster(created.target_id))["state"] == "creating"
    await cloud.delete(created.target_id, if_match=2)


async def test_a_cluster_of_another_project_does_not_exist(cloud: Cloud) -> None:
    async with cloud.database.begin() as connection:
        stranger = await make_project(connection)
    created = await cloud.create()
    with pytest.raises(Problem) as foreign:
        await cloud.delete(created.target_id, project=stranger)
    with pytest.raises(Problem) as unknown:
        await cloud.delete(uuid4(), project=stranger)
    assert foreign.value.document() == unknown.value.document()
    assert (await cloud.cluster(created.target_id))["state"] == "creating"
