"""The kinds of trial with partitions of a cluster in use: asked of a worker that dies, and of an API that dies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID, uuid4

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.operations.rotate_key import rotate
from ipucloud.clusters.states import PARTITIONS
from ipucloud.contract.partitions import PartitionCreate, PartitionReset
from ipucloud.operations.store import Accepted
from ipucloud.partitions.requests import create, remove, reset
from ipucloud.reconcile.wake import wake
from tests.crash.kinds import Kind, Promise
from tests.crash.lab import Lab
from tests.crash.requests import Asked, RequestKind
from tests.crash.victims import PATIENCE, Victim

SIZE = 4
_LOOKED = (
    "SELECT claimed_seq < wake_seq OR lease_owner IS NOT NULL AS unseen FROM work"
    " WHERE kind = 'partitions' AND key = :key"
)
_LIVING = "SELECT name FROM partitions WHERE cluster_id = :cluster AND removed_at IS NULL ORDER BY created_at"


async def _ask(lab: Lab, request: Callable[[AsyncConnection], Awaitable[Accepted]]) -> UUID:
    async with lab.world.database.begin() as connection:
        return (await request(connection)).operation_id


async def ask_to_create(lab: Lab, cluster: UUID, size: int = SIZE) -> UUID:
    body = PartitionCreate(name=lab.fresh(), size=size)
    actor, settings = lab.world.project.actor, lab.world.settings
    return await _ask(lab, lambda connection: create(connection, actor, cluster, body, settings=settings))


async def ask_to_remove(lab: Lab, cluster: UUID, name: str) -> UUID:
    actor, settings = lab.world.project.actor, lab.world.settings
    return await _ask(
        lab, lambda connection: remove(connection, actor, cluster, name, if_match=None, settings=settings)
    )


async def ask_to_reset(lab: Lab, cluster: UUID, name: str) -> UUID:
    actor, settings, body = lab.world.project.actor, lab.world.settings, PartitionReset()
    return await _ask(
        lab, lambda connection: reset(connection, actor, cluster, name, body, if_match=None, settings=settings)
    )


async def an_empty_cluster(lab: Lab) -> UUID:
    """A cluster in use of which all IPUs are free."""
    cluster = await lab.an_active_cluster()
    for row in await lab.rows(_LIVING, cluster=cluster):
        operation = await ask_to_remove(lab, cluster, row.name)
        async with lab.survivor():
            assert (await lab.world.finished(operation)).state == "succeeded"
    return cluster


async def a_divided_cluster(lab: Lab) -> tuple[UUID, str]:
    """A cluster in use, and the name of its one partition, which has half of its IPUs."""
    cluster = await an_empty_cluster(lab)
    operation = await ask_to_create(lab, cluster)
    async with lab.survivor():
        assert (await lab.world.finished(operation)).state == "succeeded"
    (row,) = await lab.rows(_LIVING, cluster=cluster)
    return cluster, row.name


class MakePartition(Kind):
    name = "make-partition"

    async def ask(self, lab: Lab) -> Promise:
        cluster = await an_empty_cluster(lab)
        return Promise(cluster, await ask_to_create(lab, cluster), "succeeded", "active")


class RefusedPartition(Kind):
    """There is no room, and the operation takes back what it may have made."""

    name = "refused-partition"

    async def ask(self, lab: Lab) -> Promise:
        cluster, _ = await a_divided_cluster(lab)
        return Promise(cluster, await ask_to_create(lab, cluster, 2 * SIZE), "failed", "active")


class ResetPartition(Kind):
    name = "reset-partition"

    async def ask(self, lab: Lab) -> Promise:
        cluster, name = await a_divided_cluster(lab)
        return Promise(cluster, await ask_to_reset(lab, cluster, name), "succeeded", "active")


class RefusedReset(Kind):
    """The controller would not reset the partition, however often it is asked."""

    name = "refused-reset"
    after = "site.after:vipu.ResetPartition"

    async def ask(self, lab: Lab) -> Promise:
        cluster, name = await a_divided_cluster(lab)
        lab.fault(call="vipu.ResetPartition", action="status", grpc_status="FAILED_PRECONDITION")
        return Promise(cluster, await ask_to_reset(lab, cluster, name), "failed", "active")


class RemovePartition(Kind):
    name = "remove-partition"

    async def ask(self, lab: Lab) -> Promise:
        cluster, name = await a_divided_cluster(lab)
        return Promise(cluster, await ask_to_remove(lab, cluster, name), "succeeded", "active")


class RotateKey(Kind):
    """The key of the cluster's Poplar servers ends with it; beside that the worker looks at the partitions."""

    name = "rotate-key"

    async def ask(self, lab: Lab) -> Promise:
        cluster = await lab.an_active_cluster()
        actor, settings = lab.world.project.actor, lab.world.settings
        async with lab.world.database.begin() as connection:
            made = await rotate(connection, actor, cluster, ends_server_key=True, settings=settings)
            await wake(connection, kind=PARTITIONS, key=str(cluster), project_id=actor.project_id)
        return Promise(cluster, made.operation_id, "succeeded", "active")

    async def drive(self, lab: Lab, promise: Promise, victim: Victim) -> None:
        await super().drive(lab, promise, victim)
        async with asyncio.timeout(PATIENCE):
            while (await lab.rows(_LOOKED, key=str(promise.cluster)))[0].unseen:
                await asyncio.sleep(0.01)


PARTITION_KINDS: tuple[Kind, ...] = (
    MakePartition(),
    RefusedPartition(),
    ResetPartition(),
    RefusedReset(),
    RemovePartition(),
    RotateKey(),
)
"""Every kind of operation on a partition, or on what lets customers at them."""


class PostPartition(RequestKind):
    name, ends, state = "post-partition", "succeeded", "active"

    async def asked(self, lab: Lab) -> Asked:
        cluster = await an_empty_cluster(lab)
        body = {"name": lab.fresh(), "size": SIZE}
        return Asked("POST", f"{lab.base}/clusters/{cluster}/partitions", body, str(uuid4()))


class PostReset(RequestKind):
    name, ends, state = "post-reset", "succeeded", "active"

    async def asked(self, lab: Lab) -> Asked:
        cluster, name = await a_divided_cluster(lab)
        return Asked("POST", f"{lab.base}/clusters/{cluster}/partitions/{name}:reset", {}, str(uuid4()))


class PostRemoval(RequestKind):
    """Of a partition that is being made: the removal takes over."""

    name, ends, state = "post-removal", "succeeded", "active"

    async def asked(self, lab: Lab) -> Asked:
        cluster = await an_empty_cluster(lab)
        await ask_to_create(lab, cluster)
        (row,) = await lab.rows(_LIVING, cluster=cluster)
        return Asked("DELETE", f"{lab.base}/clusters/{cluster}/partitions/{row.name}")


PARTITION_REQUESTS: tuple[RequestKind, ...] = (PostPartition(), PostReset(), PostRemoval())
