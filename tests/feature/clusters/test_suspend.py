"""Suspend and resume as requests: what is refused, what is taken and given, and when billing ends and begins."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from ipucloud.billing.bookkeeping import keep_books
from ipucloud.billing.invoices.payments import record_payment
from ipucloud.billing.prepaid.funds import funds_of
from ipucloud.billing.prepaid.store import set_prepaid
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
from tests.support.cloud import Cloud, start_clock, stop_clock
from tests.support.factories import make_project
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

BEGAN = datetime.fromisoformat("2026-05-05T10:00:00Z")


async def active(cloud: Cloud, name: str = "bert", flavor: str = "m2000-pod4") -> UUID:
    made = await cloud.create(name, flavor=flavor)
    await cloud.finish_create(made.target_id)
    return made.target_id


async def suspended(cloud: Cloud, flavor: str = "m2000-pod4") -> UUID:
    cluster = await active(cloud, flavor=flavor)
    await cloud.suspend(cluster)
    await cloud.finish_suspend(cluster)
    return cluster


async def refusal(promise: Awaitable[Accepted]) -> tuple[ErrorCode, Problem]:
    with pytest.raises(Problem) as refused:
        await promise
    return refused.value.kind, refused.value


async def test_a_suspend_ends_billing_and_opens_an_operation(cloud: Cloud) -> None:
    cluster = await active(cloud)
    begun = await cloud.suspend(cluster, if_match=2)
    seen = await cloud.cluster(cluster)
    assert (seen["state"], seen["stage"], seen["billing"]["status"]) == ("suspending", "CLUSTER_SUSPEND", "paused")
    assert seen["state_sla_seconds"] == 60
    operation = await cloud.operation(begun.operation_id)
    assert (operation["kind"], operation["state"], operation["cancellable"]) == ("cluster.suspend", "queued", False)
    assert await cloud.column("SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL") == [0]
    assert (await cloud.column("SELECT type FROM events ORDER BY id"))[-2:] == [
        "operation.created",
        "cluster.suspending",
    ]


async def test_asked_again_what_runs_is_the_answer(cloud: Cloud) -> None:
    cluster = await active(cloud)
    first = await cloud.suspend(cluster)
    assert await cloud.suspend(cluster, if_match=1) == first
    assert (await refusal(cloud.resume(cluster)))[1].extra == {"operation": str(first.operation_id)}
    await cloud.finish_suspend(cluster)
    assert (await refusal(cloud.suspend(cluster)))[0] is STATE_CONFLICT
    second = await cloud.resume(cluster)
    assert await cloud.resume(cluster, if_match=1) == second
    assert (await refusal(cloud.suspend(cluster)))[0] is OPERATION_IN_PROGRESS
    await cloud.finish_create(cluster)
    assert (await refusal(cloud.resume(cluster)))[0] is STATE_CONFLICT
    assert len(await cloud.column("SELECT id FROM operations")) == 3


async def test_only_clusters_in_use_rest_and_only_resting_ones_come_back(cloud: Cloud) -> None:
    refused: dict[str, tuple[ErrorCode, ErrorCode]] = {}

    async def ask(cluster: UUID) -> None:
        before = await cloud.cluster(cluster)
        refused[before["state"]] = (await refusal(cloud.suspend(cluster)))[0], (await refusal(cloud.resume(cluster)))[0]
        assert await cloud.cluster(cluster) == before

    failed, made = (await cloud.create("failed")).target_id, (await cloud.create()).target_id
    await cloud.fail_create(failed)
    await ask(failed)
    await ask(made)
    await cloud.delete(made)
    await ask(made)
    await cloud.finish_delete(made)
    await ask(made)
    under_way, nothing_to_do = (OPERATION_IN_PROGRESS,) * 2, (STATE_CONFLICT,) * 2
    assert refused == {
        "creating": under_way,
        "error": nothing_to_do,
        "deleting": under_way,
        "deleted": nothing_to_do,
    }


async def test_a_stale_version_and_a_foreign_cluster_change_nothing(cloud: Cloud) -> None:
    cluster = await active(cloud)
    async with cloud.database.begin() as connection:
        stranger = await make_project(connection)
    assert (await refusal(cloud.suspend(cluster, if_match=1)))[0] is PRECONDITION_FAILED
    assert (await refusal(cloud.suspend(cluster, project=stranger)))[0] is NOT_FOUND
    assert (await refusal(cloud.resume(cluster, project=stranger)))[0] is NOT_FOUND
    assert await cloud.column("SELECT state FROM clusters") == ["active"]


async def test_a_resume_takes_quota_and_machines_under_a_new_name(cloud: Cloud) -> None:
    cluster = await suspended(cloud, "m2000-pod16")
    assert await cloud.column("SELECT used FROM quotas WHERE region = 'luxembourg-2'") == [0]
    resting = await cloud.cluster(cluster)
    assert (resting["machines"], resting["partitions"]) == ([], [])
    async with cloud.database.read() as connection:
        shown = await topology(connection, project_id=cloud.project.id, cluster_id=cluster)
    assert (shown.machines, shown.partitions, shown.free_ipus) == ([], [], 0)
    begun = await cloud.resume(cluster)
    assert await cloud.column("SELECT used FROM quotas WHERE region = 'luxembourg-2'") == [4]
    assert await cloud.column("SELECT external_name FROM clusters") == [external_name(cluster, 2)]
    assert await cloud.column("SELECT name FROM poplar_servers") == [f"{external_name(cluster, 1)}-p0"]
    assert await cloud.column("SELECT count(machine_id) FROM allocations WHERE freed_at IS NULL") == [4]
    operation = await cloud.operation(begun.operation_id)
    assert (operation["kind"], operation["stage"], operation["cancellable"]) == (
        "cluster.resume",
        "CLUSTER_RESUME",
        True,
    )
    assert await cloud.column("SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL") == [0]


async def test_a_resume_is_refused_like_a_create_and_takes_nothing(cloud: Cloud) -> None:
    cluster = await suspended(cloud, "m2000-pod16")
    await cloud.execute("UPDATE quotas SET machine_limit = 3 WHERE region = 'luxembourg-2'")
    kind, refused = await refusal(cloud.resume(cluster))
    assert kind is QUOTA_EXCEEDED
    assert "the project's quota of 3 there are 3 left" in refused.detail
    await cloud.execute("UPDATE quotas SET machine_limit = 64 WHERE region = 'luxembourg-2'")
    large = await cloud.create("large", flavor="m2000-pod64")
    assert (await refusal(cloud.resume(cluster)))[0] is CAPACITY_EXHAUSTED
    await cloud.delete(large.target_id)
    await cloud.finish_delete(large.target_id)
    async with cloud.database.begin() as connection:
        await set_prepaid(connection, cloud.project.id, currency="EUR", when_empty="refuse_creates")
    assert (await refusal(cloud.resume(cluster)))[0] is FUNDS_EXHAUSTED
    assert await cloud.column("SELECT state || ' ' || incarnation FROM clusters WHERE name = 'bert'") == ["suspended 1"]
    assert await cloud.column("SELECT used FROM quotas WHERE region = 'luxembourg-2'") == [0]


async def test_minutes_are_those_that_begin_in_use(cloud: Cloud, database: Scratch) -> None:
    """In use from 10:00:00 to 10:00:30, and from 10:05:20 to 10:06:10: the first minute, and the one of 10:06:00."""
    cloud.broken_on_purpose.update({"operation_ends_in_time", "operation_makes_progress"})

    def at(seconds: float) -> None:
        stop_clock(database.owner_url, BEGAN + timedelta(seconds=seconds))

    at(0)
    try:
        cluster = await active(cloud)
        at(30.7)
        await cloud.suspend(cluster)
        at(200)
        await cloud.finish_suspend(cluster)
        paused = (await cloud.cluster(cluster))["billing"]
        assert (paused["status"], paused["minutes"], paused["cost"]["amount"]) == ("paused", 1, "0.0625")
        at(250)
        await cloud.resume(cluster)
        at(320)
        await cloud.finish_create(cluster)
        at(370)
        assert (await cloud.cluster(cluster))["billing"]["minutes"] == 2
        await cloud.delete(cluster)
        at(2 * 3600)
        await keep_books(cloud.database)
        assert await cloud.column("SELECT sum(minutes) FROM usage_charges") == [2]
        assert await cloud.column("SELECT sum(cost) FROM usage_charges") == [Decimal("0.125")]
    finally:
        start_clock(database.owner_url)


async def test_an_account_that_pays_ahead_holds_the_first_hour_of_each_use(cloud: Cloud, database: Scratch) -> None:
    stop_clock(database.owner_url, BEGAN)
    account = cloud.project.id
    async with cloud.database.begin() as connection:
        await set_prepaid(connection, account, currency="EUR", when_empty="refuse_creates")
        await record_payment(connection, account, Money.of(Decimal(10), "EUR"), reference="test", invoice=None)

    async def held() -> Decimal:
        async with cloud.database.read() as connection:
            return (await funds_of(connection, account, currency="EUR")).held.amount

    cluster = await active(cloud)
    assert await held() > 0
    await cloud.suspend(cluster)
    assert await held() == 0
    await cloud.finish_suspend(cluster)
    await cloud.resume(cluster)
    assert await held() == Decimal("3.75")
    assert await cloud.column("SELECT reason FROM create_holds ORDER BY created_at") == ["gone", None]
