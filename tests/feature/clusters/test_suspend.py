"""Suspend, resume and repair as requests: what is refused, taken and given, and when billing ends and begins."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import pytest

from ipucloud.billing.invoices.payments import record_payment
from ipucloud.billing.prepaid.funds import funds_of, set_prepaid
from ipucloud.inventory.health.codes import Code
from ipucloud.kernel.errors import (
    CAPACITY_EXHAUSTED,
    FUNDS_EXHAUSTED,
    NOT_FOUND,
    OPERATION_IN_PROGRESS,
    PRECONDITION_FAILED,
    QUOTA_EXCEEDED,
    STATE_CONFLICT,
    ErrorCode,
    Problem,
)
from ipucloud.kernel.ids import external_name
from ipucloud.kernel.money import Money
from ipucloud.operations.store import Accepted
from ipucloud.partitions.topology import topology
from tests.support.factories import make_project
from tests.support.postgres import Database as Scratch
from tests.support.world import World
from tests.support.world.clock import stop_clock

pytestmark = pytest.mark.anyio

BEGAN = datetime.fromisoformat("2026-05-05T10:00:00Z")


async def refusal(request: Awaitable[Accepted]) -> tuple[ErrorCode, Problem]:
    with pytest.raises(Problem) as refused:
        await request
    return refused.value.kind, refused.value


async def test_a_suspend_ends_billing_and_opens_an_operation(world: World) -> None:
    cluster = await world.make_active()
    begun = await world.suspend(cluster, if_match=2)
    shown = await world.cluster(cluster)
    assert (shown["state"], shown["stage"], shown["billing"]["status"]) == ("suspending", "CLUSTER_SUSPEND", "paused")
    assert shown["state_sla_seconds"] == 60
    operation = await world.operation(begun.operation_id)
    assert (operation["kind"], operation["state"], operation["cancellable"]) == ("cluster.suspend", "queued", False)
    assert await world.column("SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL") == [0]
    assert (await world.column("SELECT type FROM events ORDER BY id"))[-2:] == [
        "operation.created",
        "cluster.suspending",
    ]


async def test_asked_again_what_runs_is_the_answer(world: World) -> None:
    cluster = await world.make_active()
    first = await world.suspend(cluster)
    assert await world.suspend(cluster, if_match=1) == first
    assert (await refusal(world.resume(cluster)))[1].extra == {"operation": str(first.operation_id)}
    await world.finish_suspend(cluster)
    assert (await refusal(world.suspend(cluster)))[0] is STATE_CONFLICT
    second = await world.resume(cluster)
    assert await world.resume(cluster, if_match=1) == second
    assert (await refusal(world.suspend(cluster)))[0] is OPERATION_IN_PROGRESS
    await world.finish_create(cluster)
    assert (await refusal(world.resume(cluster)))[0] is STATE_CONFLICT
    assert len(await world.column("SELECT id FROM operations")) == 3


async def test_only_active_clusters_are_suspended_and_only_suspended_ones_resumed(world: World) -> None:
    refused: dict[str, tuple[ErrorCode, ErrorCode]] = {}

    async def ask(cluster: UUID) -> None:
        before = await world.cluster(cluster)
        refused[before["state"]] = (await refusal(world.suspend(cluster)))[0], (await refusal(world.resume(cluster)))[0]
        assert await world.cluster(cluster) | {"billing": before["billing"]} == before

    failed, new = (await world.create("failed")).target_id, (await world.create()).target_id
    await world.fail_create(failed)
    await ask(failed)
    await ask(new)
    await world.delete(new)
    await ask(new)
    await world.finish_delete(new)
    await ask(new)
    under_way, nothing_to_do = (OPERATION_IN_PROGRESS,) * 2, (STATE_CONFLICT,) * 2
    assert refused == {
        "creating": under_way,
        "error": nothing_to_do,
        "deleting": under_way,
        "deleted": nothing_to_do,
    }


async def test_a_stale_version_and_a_foreign_cluster_change_nothing(world: World) -> None:
    cluster = await world.make_active()
    async with world.database.begin() as connection:
        stranger = await make_project(connection)
    assert (await refusal(world.suspend(cluster, if_match=1)))[0] is PRECONDITION_FAILED
    assert (await refusal(world.customer(stranger).suspend(cluster)))[0] is NOT_FOUND
    assert (await refusal(world.customer(stranger).resume(cluster)))[0] is NOT_FOUND
    assert await world.column("SELECT state FROM clusters") == ["active"]


async def test_a_resume_takes_quota_and_machines_under_a_new_name(world: World) -> None:
    cluster = await world.make_suspended(flavor="m2000-pod16")
    assert await world.column("SELECT used FROM quotas WHERE region = 'luxembourg-2'") == [0]
    resting = await world.cluster(cluster)
    assert (resting["machines"], resting["partitions"]) == ([], [])
    async with world.database.read() as connection:
        shown = await topology(connection, project_id=world.project.id, cluster_id=cluster)
    assert (shown.machines, shown.partitions, shown.free_ipus) == ([], [], 0)
    begun = await world.resume(cluster)
    assert await world.column("SELECT used FROM quotas WHERE region = 'luxembourg-2'") == [4]
    assert await world.column("SELECT external_name FROM clusters") == [external_name(cluster, 2)]
    assert await world.column("SELECT name FROM poplar_servers") == [f"{external_name(cluster, 1)}-p0"]
    assert await world.column("SELECT count(machine_id) FROM allocations WHERE freed_at IS NULL") == [4]
    operation = await world.operation(begun.operation_id)
    assert (operation["kind"], operation["stage"], operation["cancellable"]) == (
        "cluster.resume",
        "CLUSTER_RESUME",
        True,
    )
    assert await world.column("SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL") == [0]


async def test_a_resume_is_refused_like_a_create_and_takes_nothing(world: World) -> None:
    cluster = await world.make_suspended(flavor="m2000-pod16")
    await world.execute("UPDATE quotas SET machine_limit = 3 WHERE region = 'luxembourg-2'")
    kind, refused = await refusal(world.resume(cluster))
    assert kind is QUOTA_EXCEEDED
    assert "the project's quota of 3 there are 3 left" in refused.detail
    await world.execute("UPDATE quotas SET machine_limit = 64 WHERE region = 'luxembourg-2'")
    large = await world.create("large", flavor="m2000-pod64")
    assert (await refusal(world.resume(cluster)))[0] is CAPACITY_EXHAUSTED
    await world.delete(large.target_id)
    await world.finish_delete(large.target_id)
    async with world.database.begin() as connection:
        await set_prepaid(connection, world.project.id, currency="EUR", when_empty="refuse_creates")
    assert (await refusal(world.resume(cluster)))[0] is FUNDS_EXHAUSTED
    assert await world.column("SELECT state || ' ' || incarnation FROM clusters WHERE name = 'bert'") == ["suspended 1"]
    assert await world.column("SELECT used FROM quotas WHERE region = 'luxembourg-2'") == [0]


async def test_an_account_that_pays_ahead_holds_the_first_hour_of_each_use(world: World, database: Scratch) -> None:
    stop_clock(database.owner_url, BEGAN)
    account = world.project.id
    async with world.database.begin() as connection:
        await set_prepaid(connection, account, currency="EUR", when_empty="refuse_creates")
        await record_payment(connection, account, Money.of(Decimal(10), "EUR"), reference="test", invoice=None)

    async def held() -> Decimal:
        async with world.database.read() as connection:
            return (await funds_of(connection, account, currency="EUR")).held.amount

    cluster = await world.make_active()
    assert await held() > 0
    await world.suspend(cluster)
    assert await held() == 0
    await world.finish_suspend(cluster)
    await world.resume(cluster)
    assert await held() == Decimal("3.75")
    assert await world.column("SELECT reason FROM create_holds ORDER BY created_at") == ["gone", None]


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
