"""Repairs as requests: what is refused, what is chosen, and when billing ends."""

from __future__ import annotations

import pytest

from ipucloud.inventory.health.codes import Code
from ipucloud.kernel.errors import OPERATION_IN_PROGRESS, PRECONDITION_FAILED, STATE_CONFLICT, Problem
from tests.support.world import World

pytestmark = pytest.mark.anyio


async def test_a_repair_ends_billing_keeps_the_quota_and_joins_what_runs(world: World) -> None:
    cluster = await world.make_active(flavor="m2000-pod16")
    await world.fail(cluster, Code.LINK_DOWN, ordinal=2)
    used = await world.value("SELECT sum(used) FROM quotas")
    begun = await world.replace_hardware(cluster)
    shown = await world.cluster(cluster)
    assert (shown["state"], shown["stage"], shown["billing"]["status"]) == ("rebuilding", "CLUSTER_REPAIR", "paused")
    operation = await world.operation(begun.operation_id)
    assert (operation["kind"], operation["cancellable"]) == ("cluster.replace-hardware", False)
    assert await world.value("SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL") == 0
    assert await world.value("SELECT sum(used) FROM quotas") == used
    assert await world.replace_hardware(cluster, if_match=1) == begun
    with pytest.raises(Problem) as refused:
        await world.suspend(cluster)
    assert refused.value.kind is OPERATION_IN_PROGRESS


async def test_only_faults_that_other_hardware_repairs_are_repaired(world: World) -> None:
    """A host in maintenance works, and has a disk."""
    cluster = await world.make_active()
    await world.fail(cluster, Code.LINK_DEGRADED)
    await world.fail(cluster, Code.MAINTENANCE, kind="host")
    with pytest.raises(Problem) as refused:
        await world.replace_hardware(cluster)
    assert refused.value.kind is STATE_CONFLICT
    [machine] = (await world.cluster(cluster))["machines"]
    with pytest.raises(Problem) as refused:
        await world.replace_hardware(cluster, machine["name"], "of-somebody-else")
    assert "does not have of-somebody-else" in str(refused.value.detail)
    await world.replace_hardware(cluster, machine["name"], reason="maintenance")
    reason = (await world.cluster(cluster))["state_reason"]
    assert reason == f"Machine {machine['name']} is replaced: It is to be maintained."


async def test_other_versions_and_states_are_refused(world: World) -> None:
    cluster = await world.make_active()
    await world.fail(cluster, Code.BMC_CRITICAL)
    with pytest.raises(Problem) as refused:
        await world.replace_hardware(cluster, if_match=1)
    assert refused.value.kind is PRECONDITION_FAILED
    await world.suspend(cluster)
    await world.finish_suspend(cluster)
    with pytest.raises(Problem) as refused:
        await world.replace_hardware(cluster)
    assert refused.value.kind is STATE_CONFLICT
