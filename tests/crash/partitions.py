"""The kinds of trial with partitions of a cluster in use: asked of a worker that dies, and of an API that dies."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

from ipucloud.clusters.operations.rotate_key import rotate
from ipucloud.clusters.states import PARTITIONS
from ipucloud.reconcile.wake import wake
from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.requests import ApiRequest, RequestKind
from tests.crash.victims import Victim
from tests.support.waiting import PATIENCE

SIZE = 4
_UNSEEN = (
    "SELECT claimed_seq < wake_seq OR lease_owner IS NOT NULL AS unseen FROM work"
    " WHERE kind = 'partitions' AND key = :key"
)
_LIVING = "SELECT name FROM partitions WHERE cluster_id = :cluster AND removed_at IS NULL ORDER BY created_at"


async def an_empty_cluster(lab: Lab) -> UUID:
    """A cluster in use of which all IPUs are free."""
    cluster = await lab.an_active_cluster()
    for row in await lab.rows(_LIVING, cluster=cluster):
        operation = await lab.remove_partition(cluster, row.name)
        async with lab.survivor():
            await lab.succeeded(operation)
    return cluster


async def a_divided_cluster(lab: Lab) -> tuple[UUID, str]:
    """A cluster in use, and the name of its one partition, which has half of its IPUs."""
    cluster = await an_empty_cluster(lab)
    operation = await lab.create_partition(cluster, lab.fresh(), SIZE)
    async with lab.survivor():
        await lab.succeeded(operation)
    (row,) = await lab.rows(_LIVING, cluster=cluster)
    return cluster, row.name


class MakePartition(Kind):
    name = "make-partition"

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await an_empty_cluster(lab)
        return Expectation(cluster, await lab.create_partition(cluster, lab.fresh(), SIZE), "succeeded", "active")


class RefusedPartition(Kind):
    """There is no room, and the operation takes back what it may have made."""

    name = "refused-partition"

    async def ask(self, lab: Lab) -> Expectation:
        cluster, _ = await a_divided_cluster(lab)
        return Expectation(cluster, await lab.create_partition(cluster, lab.fresh(), 2 * SIZE), "failed", "active")


class ResetPartition(Kind):
    name = "reset-partition"

    async def ask(self, lab: Lab) -> Expectation:
        cluster, name = await a_divided_cluster(lab)
        return Expectation(cluster, await lab.reset_partition(cluster, name), "succeeded", "active")


class RefusedReset(Kind):
    """The controller would not reset the partition, however often it is asked."""

    name = "refused-reset"
    after = "site.after:vipu.ResetPartition"

    async def ask(self, lab: Lab) -> Expectation:
        cluster, name = await a_divided_cluster(lab)
        lab.fault(call="vipu.ResetPartition", action="status", grpc_status="FAILED_PRECONDITION")
        return Expectation(cluster, await lab.reset_partition(cluster, name), "failed", "active")


class RemovePartition(Kind):
    name = "remove-partition"

    async def ask(self, lab: Lab) -> Expectation:
        cluster, name = await a_divided_cluster(lab)
        return Expectation(cluster, await lab.remove_partition(cluster, name), "succeeded", "active")


class SeveralPartitions(Kind):
    """One is removed, and another has room only then: two operations in the same passes."""

    name = "several-partitions"

    async def ask(self, lab: Lab) -> Expectation:
        cluster, name = await a_divided_cluster(lab)
        await lab.remove_partition(cluster, name)
        return Expectation(cluster, await lab.create_partition(cluster, lab.fresh(), 2 * SIZE), "succeeded", "active")


class RotateKey(Kind):
    """The key of the cluster's Poplar servers ends with it; beside that the worker reconciles the partitions."""

    name = "rotate-key"

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.an_active_cluster()
        actor, settings = lab.project.actor, lab.settings
        async with lab.database.begin() as connection:
            rotation = await rotate(connection, actor, cluster, ends_server_key=True, settings=settings)
            await wake(connection, kind=PARTITIONS, key=str(cluster), project_id=actor.project_id)
        return Expectation(cluster, rotation.operation_id, "succeeded", "active")

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await super().drive(lab, expectation, victim)
        async with asyncio.timeout(PATIENCE):
            while (await lab.rows(_UNSEEN, key=str(expectation.cluster)))[0].unseen:
                await asyncio.sleep(0.01)


PARTITION_KINDS: tuple[Kind, ...] = (
    MakePartition(),
    RefusedPartition(),
    ResetPartition(),
    RefusedReset(),
    RemovePartition(),
    SeveralPartitions(),
    RotateKey(),
)
"""Every kind of operation on a partition, or on what lets customers at them."""


class PostPartition(RequestKind):
    name, ends, state = "post-partition", "succeeded", "active"

    async def prepare(self, lab: Lab) -> ApiRequest:
        cluster = await an_empty_cluster(lab)
        body = {"name": lab.fresh(), "size": SIZE}
        return ApiRequest("POST", f"{lab.base}/clusters/{cluster}/partitions", body, str(uuid4()))


class PostReset(RequestKind):
    name, ends, state = "post-reset", "succeeded", "active"

    async def prepare(self, lab: Lab) -> ApiRequest:
        cluster, name = await a_divided_cluster(lab)
        return ApiRequest("POST", f"{lab.base}/clusters/{cluster}/partitions/{name}:reset", {}, str(uuid4()))


class PostRemoval(RequestKind):
    """Of a partition that is being made: the removal takes over."""

    name, ends, state = "post-removal", "succeeded", "active"

    async def prepare(self, lab: Lab) -> ApiRequest:
        cluster = await an_empty_cluster(lab)
        await lab.create_partition(cluster, lab.fresh(), SIZE)
        (row,) = await lab.rows(_LIVING, cluster=cluster)
        return ApiRequest("DELETE", f"{lab.base}/clusters/{cluster}/partitions/{row.name}")


PARTITION_REQUESTS: tuple[RequestKind, ...] = (PostPartition(), PostReset(), PostRemoval())
