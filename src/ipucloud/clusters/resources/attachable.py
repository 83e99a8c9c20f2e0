"""A noun of which a Poplar server can have some: what requests do with them, and what follows for them from changes of
clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import LockedCluster
from ipucloud.clusters.resources.resource import Life, Resource, Resources
from ipucloud.clusters.servers import UNKNOWN_SERVER, lock_cluster_in_use, server_of
from ipucloud.db.rows import Query
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import IN_USE, NOT_FOUND, STATE_CONFLICT, Problem, not_found
from ipucloud.reconcile.wake import wake

ATTACHMENT = "cluster_id = :cluster_id, server_id = :server_id, revision = :revision"
"""Begins `moved` of such a noun."""


class Attachable(Resource, Protocol):
    """`revision`: of its attachment; it only grows."""

    @property
    def revision(self) -> int: ...


class Attach(Protocol):
    """The body of a request to attach one."""

    @property
    def cluster(self) -> UUID: ...
    @property
    def poplar_server(self) -> str | None: ...


Row = TypeVar("Row", bound=Attachable)


class Attachables(Resources[Row], Generic[Row]):
    """Such a noun, as a subclass declares it."""

    def __init__(self) -> None:
        super().__init__()
        table = self.nouns
        self._advance = sa.text(
            f"UPDATE {table} SET revision = :revision WHERE project_id = :project_id AND id = :id"  # noqa: S608
        )
        # Locked, so that none of another project is found; the lock lets every change pass.
        self._own = Query(
            f"SELECT id FROM {table} WHERE project_id = :project_id AND id = :id FOR KEY SHARE",  # noqa: S608
            UUID,
        )
        self._of_cluster = Query(
            f"""
            SELECT id FROM {table} WHERE project_id = :project_id AND cluster_id = :cluster_id AND state <> 'detaching'
             ORDER BY id FOR NO KEY UPDATE
            """,  # noqa: S608  # our own text
            UUID,
        )
        self._of_servers = Query(
            f"""
            SELECT a.id FROM {table} a JOIN poplar_servers s ON (s.project_id, s.id) = (a.project_id, a.server_id)
             WHERE a.project_id = :project_id AND a.cluster_id = :cluster_id
               AND s.ordinal = ANY (CAST(:ordinals AS integer[]))
             ORDER BY a.id
            """,  # noqa: S608  # our own text
            UUID,
        )

    async def attach(self, connection: AsyncConnection, actor: Actor, resource_id: UUID, body: Attach) -> None:
        """Let a server of a cluster in use have it; asking again for the same server changes nothing.

        Raises `Problem`: not_found, state_conflict, validation_failed.
        """
        if await self._own.one_or_none(connection, {"project_id": actor.project_id, "id": resource_id}) is None:
            raise not_found()
        cluster = await self._cluster(connection, actor, body.cluster)
        row = await self.lock(connection, actor.project_id, resource_id)
        server = await server_of(connection, actor, cluster.id, body.poplar_server)
        if server is None:
            raise self.invalid(UNKNOWN_SERVER)
        if row.server_id == server.id and row.state in (Life.ATTACHING, Life.ATTACHED):
            return
        self._refuse_unless_free(row, cluster)
        await self.begin_attach(connection, row, cluster.id, server.id)

    async def begin_attach(self, connection: AsyncConnection, row: Row, cluster_id: UUID, server_id: UUID) -> None:
        """Have a locked one that is available attached."""
        desired = row._replace(cluster_id=cluster_id, server_id=server_id, revision=row.revision + 1)
        await self.move(connection, desired, Life.ATTACHING)
        await self.wake(connection, row)

    async def advance(self, connection: AsyncConnection, row: Row, revision: int) -> None:
        """Request its attachment under a later revision."""
        await connection.execute(self._advance, {"project_id": row.project_id, "id": row.id, "revision": revision})

    async def detach(self, connection: AsyncConnection, actor: Actor, resource_id: UUID) -> None:
        """Take it from its server; one that no server has stays as it is. Raises `Problem`: not_found,
        state_conflict."""
        row = await self.lock(connection, actor.project_id, resource_id)
        if row.state in (Life.AVAILABLE, Life.DETACHING):
            return
        if row.state not in (Life.ATTACHING, Life.ATTACHED):
            raise self.conflict(row, "be detached")
        await self.begin_detach(connection, row)

    async def begin_detach(self, connection: AsyncConnection, row: Row) -> None:
        """Have a locked one detached."""
        await self.move(connection, row._replace(revision=row.revision + 1), Life.DETACHING)
        await self.wake(connection, row)

    async def detach_all(self, connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> None:
        """A locked cluster is being deleted: what its servers have is detached, and stays."""
        for resource_id in await self._of_cluster.all(connection, {"project_id": project_id, "cluster_id": cluster_id}):
            row = await self.lock(connection, project_id, resource_id)
            if row.state in (Life.ATTACHING, Life.ATTACHED):  # any other follows once it is attached again
                await self.begin_detach(connection, row)

    async def renew(
        self, connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, ordinals: Sequence[int]
    ) -> None:
        """Servers of a locked cluster have started: look again at whether they have what they should."""
        values = {"project_id": project_id, "cluster_id": cluster_id, "ordinals": [*ordinals]}
        for resource_id in await self._of_servers.all(connection, values):
            await wake(connection, kind=self.nouns, key=str(resource_id), project_id=project_id)

    async def require_deletable(self, connection: AsyncConnection, row: Row) -> None:
        if row.cluster_id is not None:
            raise Problem(
                IN_USE,
                f"A server has {self.noun} {row.name}. Detach it, and wait until it is `available`, then delete it.",
            )

    async def _cluster(self, connection: AsyncConnection, actor: Actor, cluster_id: UUID) -> LockedCluster:
        """The cluster in use that a request names. Raises `Problem`: not_found, which names the cluster, and
        state_conflict."""
        try:
            what = f"{self.nouns.capitalize()} are attached to servers"
            return await lock_cluster_in_use(connection, actor, cluster_id, what)
        except Problem as problem:
            if problem.kind is not NOT_FOUND:
                raise
            sentence = f"The project has no cluster {cluster_id}; `GET …/clusters` lists those it has."
            raise Problem(NOT_FOUND, sentence) from None

    def _refuse_unless_free(self, row: Row, cluster: LockedCluster) -> None:
        """Raise `Problem` state_conflict for what is in another region, at another server, or not available."""
        if cluster.region != row.region:
            raise Problem(
                STATE_CONFLICT,
                f"{self.noun.capitalize()} {row.name} is in {row.region}, and cluster {cluster.name} in"
                f" {cluster.region}. Choose a cluster in the region of the {self.noun}.",
            )
        if row.cluster_id is not None:
            raise Problem(
                STATE_CONFLICT,
                f"Another server has {self.noun} {row.name}, or it is {row.state}. Detach it, and wait until it"
                " is `available`.",
            )
        if row.state != Life.AVAILABLE:
            raise self.conflict(row, "be attached")
