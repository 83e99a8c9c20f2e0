"""The Poplar server that a request is about, and the user data of servers, for cloud-init.

User data is encrypted in the database where there is a key, and decrypted for the site.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import LockedCluster, lock_cluster
from ipucloud.clusters.states import BILLABLE
from ipucloud.db.rows import Query
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, FieldError, Problem
from ipucloud.kernel.sealing import Keys, place, stored_plain, to_store


class Server(NamedTuple):
    """A Poplar server of a cluster."""

    id: UUID
    name: str


_SERVER = Query(
    """
    SELECT id, name FROM poplar_servers
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND state <> 'deleted'
       AND (CAST(:ref AS text) IS NULL OR name = :ref OR id::text = lower(:ref))
     ORDER BY ordinal LIMIT 1
    """,
    Server,
)
UNKNOWN_SERVER = FieldError(
    "/poplar_server", "unknown_poplar_server", "The cluster has no such Poplar server; read it."
)


async def lock_cluster_in_use(connection: AsyncConnection, actor: Actor, cluster_id: UUID, what: str) -> LockedCluster:
    """The cluster, which must be in use. `what`: what needs that, such as `Jobs run`.

    Raises `Problem`: not_found, state_conflict.
    """
    cluster = await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
    if cluster.state not in BILLABLE:
        raise Problem(
            STATE_CONFLICT,
            f"{what} on clusters in use, and this one is {cluster.state}. Wait until it is active, or resume it.",
        )
    return cluster


async def server_of(connection: AsyncConnection, actor: Actor, cluster_id: UUID, ref: str | None) -> Server | None:
    """A Poplar server of the cluster by name or id, by default the first."""
    parameters = {"project_id": actor.project_id, "cluster_id": cluster_id, "ref": ref}
    return await _SERVER.one_or_none(connection, parameters)


def user_data_place(cluster_id: UUID, project_id: UUID) -> str:
    """The place of the encrypted text, in the cluster's row and in that of a rebuild."""
    return place("clusters", cluster_id, "user_data", project_id)


@dataclass(frozen=True, slots=True)
class StoredUserData:
    """User data as the database has it; `where`: see `user_data_place`."""

    text: str | None
    keys: Keys | None = field(repr=False)
    where: str

    @property
    def plain(self) -> str | None:
        """As the customer gave it. Raises SealingError: the key that encrypted it is missing."""
        return None if self.text is None else stored_plain(self.keys, self.text, self.where)


def user_data_to_store(keys: Keys | None, plain: str | None, where: str) -> str | None:
    """What the database gets."""
    return None if plain is None else to_store(keys, plain, where)
