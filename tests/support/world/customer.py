"""What a customer asks for, through the functions and in the transactions of the API's handlers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.load import load
from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.estimate import estimate
from ipucloud.clusters.operations.create import create
from ipucloud.clusters.operations.delete import delete
from ipucloud.clusters.operations.kind import WORK_KIND
from ipucloud.clusters.operations.rebuild import rebuild
from ipucloud.clusters.operations.replace import replace_hardware
from ipucloud.clusters.operations.resize import resize
from ipucloud.clusters.operations.restart import restart
from ipucloud.clusters.operations.resume import resume
from ipucloud.clusters.operations.rotate_key import NewKey, rotate
from ipucloud.clusters.operations.suspend import suspend
from ipucloud.clusters.operations.waiting import AT_ONCE, MayWait
from ipucloud.clusters.resize_estimate import estimate_resize
from ipucloud.clusters.states import PARTITIONS
from ipucloud.clusters.update import update
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterCreate, ClusterPatch, ClusterRebuild
from ipucloud.contract.estimates import EstimateOut, ResizeEstimateOut
from ipucloud.contract.partitions import PartitionCreate, PartitionReset
from ipucloud.db.engine import Database
from ipucloud.kernel.actor import Actor
from ipucloud.operations.cancelling import request_cancel
from ipucloud.operations.store import Accepted
from ipucloud.partitions import requests as partitions
from ipucloud.reconcile.wake import wake

Answer = TypeVar("Answer")

REGION = "luxembourg-2"
IMAGE = "ubuntu-20.04-x64-poplar-1.18.0-3.0.0"


def cluster_body(name: str = "bert", **changes: object) -> ClusterCreate:
    """A POD4 in Luxembourg with the key that factories make."""
    usual = {"name": name, "region": REGION, "flavor": "m2000-pod4", "image": IMAGE, "ssh_keys": ["laptop"]}
    return ClusterCreate.model_validate(usual | changes)


def id_of(operation: Accepted | UUID) -> UUID:
    return operation.operation_id if isinstance(operation, Accepted) else operation


@dataclass
class Customer:
    """Each method is one request: a transaction, repeated when the database asks for that."""

    database: Database
    actor: Callable[[], Actor]
    settings: Settings = field(default_factory=Settings)
    catalogue: Catalogue = field(default_factory=load)

    async def create(self, name: str = "bert", flavor: str = "m2000-pod4", **changes: object) -> Accepted:
        """A cluster, in the first region that sells the flavor unless `changes` name another."""
        return await self._send(create, self._body(name, flavor, changes), catalogue=self.catalogue)

    async def estimate(self, name: str = "bert", flavor: str = "m2000-pod4", **changes: object) -> EstimateOut:
        actor, body = self.actor(), self._body(name, flavor, changes)
        async with self.database.read() as connection:
            return await estimate(connection, actor, body, catalogue=self.catalogue, settings=self.settings)

    async def delete(self, cluster: UUID, *, if_match: int | None = None) -> Accepted:
        return await self._send(delete, cluster, if_match=if_match)

    async def suspend(self, cluster: UUID, *, if_match: int | None = None) -> Accepted:
        return await self._send(suspend, cluster, if_match=if_match)

    async def resume(self, cluster: UUID, *, if_match: int | None = None, may_wait: MayWait = AT_ONCE) -> Accepted:
        return await self._send(resume, cluster, if_match=if_match, may_wait=may_wait)

    async def restart(self, cluster: UUID, *servers: str, hard: bool = False, if_match: int | None = None) -> Accepted:
        """All servers, unless some are named."""
        return await self._send(restart, cluster, servers=servers or None, hard=hard, if_match=if_match)

    async def resize(
        self, cluster: UUID, flavor: str, *, if_match: int | None = None, may_wait: MayWait = AT_ONCE
    ) -> Accepted:
        options: dict[str, Any] = {"catalogue": self.catalogue, "if_match": if_match, "may_wait": may_wait}
        return await self._send(resize, cluster, flavor=flavor, **options)

    async def rebuild(self, cluster: UUID, *, if_match: int | None = None, **changes: object) -> Accepted:
        """All servers with their disks wiped, unless `changes` say otherwise."""
        body = ClusterRebuild.model_validate({"disk": "wipe"} | changes)
        return await self._send(rebuild, cluster, body=body, catalogue=self.catalogue, if_match=if_match)

    async def estimate_resize(self, cluster: UUID, flavor: str) -> ResizeEstimateOut:
        options: Any = {"catalogue": self.catalogue, "settings": self.settings}
        async with self.database.read() as connection:
            return await estimate_resize(connection, self.actor(), cluster, flavor=flavor, **options)

    async def replace_hardware(
        self, cluster: UUID, *hardware: str, if_match: int | None = None, **changes: Any
    ) -> Accepted:
        return await self._send(replace_hardware, cluster, hardware=hardware, if_match=if_match, **changes)

    async def update(self, cluster: UUID, *, if_match: int | None = None, **changes: object) -> int:
        """The cluster's new version."""
        actor, body = self.actor(), ClusterPatch.model_validate(changes)
        return await self.database.transact(
            lambda connection: update(
                connection, actor, cluster, body=body, if_match=if_match, sealing=self.settings.sealing_keys()
            )
        )

    async def rotate_key(self, cluster: UUID, *, ends_server_key: bool) -> NewKey:
        return await self._send(rotate, cluster, ends_server_key=ends_server_key)

    async def cancel(self, operation: Accepted | UUID) -> bool:
        """False when it is too late."""
        project, key = self.actor().project_id, id_of(operation)

        async def ask(connection: AsyncConnection) -> bool:
            operation = await request_cancel(connection, project_id=project, operation_id=key)
            if operation is not None:
                kind = WORK_KIND if operation.partition_id is None else PARTITIONS
                await wake(connection, kind=kind, key=str(operation.cluster_id), project_id=project)
            return operation is not None

        return await self.database.transact(ask)

    async def create_partition(self, cluster: UUID, name: str, size: int = 4, **shape: object) -> Accepted:
        body = PartitionCreate.model_validate({"name": name, "size": size} | shape)
        return await self._send(partitions.create, cluster, body)

    async def reset_partition(self, cluster: UUID, ref: str) -> Accepted:
        return await self._send(partitions.reset, cluster, ref, PartitionReset(), if_match=None)

    async def remove_partition(self, cluster: UUID, ref: str) -> Accepted:
        return await self._send(partitions.remove, cluster, ref, if_match=None)

    async def _send(self, request: Callable[..., Awaitable[Answer]], *of: object, **named: object) -> Answer:
        actor = self.actor()
        return await self.database.transact(
            lambda connection: request(connection, actor, *of, settings=self.settings, **named)
        )

    def _body(self, name: str, flavor: str, changes: dict[str, object]) -> ClusterCreate:
        sold = self.catalogue.find_flavor(flavor)
        region = sold.regions[0] if sold is not None else REGION
        return cluster_body(name, **({"region": region, "flavor": flavor} | changes))
