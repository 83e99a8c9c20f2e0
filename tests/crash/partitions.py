"""The kinds of trial with partitions of a cluster in use: asked of a worker that dies, and of an API that dies."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar
from uuid import UUID, uuid4

from ipucloud.clusters.operations.rotate_key import rotate
from ipucloud.clusters.states import PARTITIONS
from ipucloud.operations.store import Accepted
from ipucloud.reconcile.wake import wake
from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.requests import ApiRequest, RequestKind
from tests.crash.victims import Victim
from tests.support.waiting import until

SIZE = 4
_SEEN = "SELECT claimed_seq >= wake_seq AND lease_owner IS NULL FROM work WHERE kind = 'partitions' AND key = :key"
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


class OfPartition(Kind):
    """`empty`: its cluster has no partition before; else one with half of its IPUs."""

    empty: ClassVar[bool] = False

    async def request(self, lab: Lab, cluster: UUID, name: str) -> Accepted:
        raise NotImplementedError

    async def begin(self, lab: Lab) -> Accepted:
        cluster, name = (await an_empty_cluster(lab), "") if self.empty else await a_divided_cluster(lab)
        return replace(await self.request(lab, cluster, name), target_id=cluster)


class MakePartition(OfPartition):
    name, empty = "make-partition", True

    async def request(self, lab: Lab, cluster: UUID, name: str) -> Accepted:
        return await lab.create_partition(cluster, lab.fresh(), SIZE)


class RefusedPartition(OfPartition):
    """There is no room, and the operation takes back what it may have made."""

    name, ends = "refused-partition", ("failed", "active")

    async def request(self, lab: Lab, cluster: UUID, name: str) -> Accepted:
        return await lab.create_partition(cluster, lab.fresh(), 2 * SIZE)


class ResetPartition(OfPartition):
    name = "reset-partition"

    async def request(self, lab: Lab, cluster: UUID, name: str) -> Accepted:
        return await lab.reset_partition(cluster, name)


class RefusedReset(ResetPartition):
    """The controller would not reset the partition, however often it is asked."""

    name, ends = "refused-reset", ("failed", "active")
    after = "site.after:vipu.ResetPartition"
    fault = MappingProxyType({"call": "vipu.ResetPartition", "action": "status", "grpc_status": "FAILED_PRECONDITION"})


class RemovePartition(OfPartition):
    name = "remove-partition"

    async def request(self, lab: Lab, cluster: UUID, name: str) -> Accepted:
        return await lab.remove_partition(cluster, name)


class SeveralPartitions(OfPartition):
    """One is removed, and another has room only then: two operations in the same passes."""

    name = "several-partitions"

    async def request(self, lab: Lab, cluster: UUID, name: str) -> Accepted:
        await lab.remove_partition(cluster, name)
        return await lab.create_partition(cluster, lab.fresh(), 2 * SIZE)


class RotateKey(Kind):
    """The key of the cluster's Poplar servers ends with it; beside that the worker reconciles the partitions."""

    name = "rotate-key"

    async def begin(self, lab: Lab) -> Accepted:
        cluster = await lab.an_active_cluster()
        actor, settings = lab.project.actor, lab.settings
        async with lab.database.begin() as connection:
            rotation = await rotate(connection, actor, cluster, ends_server_key=True, settings=settings)
            await wake(connection, kind=PARTITIONS, key=str(cluster), project_id=actor.project_id)
        return Accepted(rotation.operation_id, cluster)

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await super().drive(lab, expectation, victim)
        await until(lambda: lab.value(_SEEN, key=str(expectation.cluster)), "the partitions are reconciled")


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


async def _create(lab: Lab) -> ApiRequest:
    cluster = await an_empty_cluster(lab)
    body = {"name": lab.fresh(), "size": SIZE}
    return ApiRequest("POST", f"{lab.base}/clusters/{cluster}/partitions", body, str(uuid4()))


async def _reset(lab: Lab) -> ApiRequest:
    cluster, name = await a_divided_cluster(lab)
    return ApiRequest("POST", f"{lab.base}/clusters/{cluster}/partitions/{name}:reset", {}, str(uuid4()))


async def _remove(lab: Lab) -> ApiRequest:
    """Of a partition that is being made: the removal takes over."""
    cluster = await an_empty_cluster(lab)
    await lab.create_partition(cluster, lab.fresh(), SIZE)
    (row,) = await lab.rows(_LIVING, cluster=cluster)
    return ApiRequest("DELETE", f"{lab.base}/clusters/{cluster}/partitions/{row.name}")


POST_PARTITION = RequestKind("post-partition", _create)
POST_REMOVAL = RequestKind("post-removal", _remove)
PARTITION_REQUESTS = (POST_PARTITION, RequestKind("post-reset", _reset), POST_REMOVAL)
