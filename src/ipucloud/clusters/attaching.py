"""What requests to attach something of the project to a Poplar server have in common: finding the server."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locked import LockedCluster
from ipucloud.clusters.programs.store import UNKNOWN_SERVER, Server, lock_cluster_in_use, server_of
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import NOT_FOUND, VALIDATION_FAILED, Problem


async def lock_cluster_to_attach_to(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, what: str
) -> LockedCluster:
    """The cluster in use that a request names. `what`: what needs one, such as `Volumes are attached to servers`.

    Raises `Problem`: not_found, which names the cluster, and state_conflict.
    """
    try:
        return await lock_cluster_in_use(connection, actor, cluster_id, what)
    except Problem as problem:
        if problem.kind is not NOT_FOUND:
            raise
        sentence = f"The project has no cluster {cluster_id}; `GET …/clusters` lists those it has."
        raise Problem(NOT_FOUND, sentence) from None


async def server_to_attach_to(
    connection: AsyncConnection, actor: Actor, cluster: LockedCluster, ref: str | None, subject: str
) -> Server:
    """The cluster's Poplar server by name or id, by default the first. Raises `Problem` validation_failed.

    `subject`: what is to be attached, such as `volume`.
    """
    server = await server_of(connection, actor, cluster.id, ref)
    if server is None:
        sentence = f"The {subject} cannot be as requested; `errors` lists what to change."
        raise Problem(VALIDATION_FAILED, sentence, [UNKNOWN_SERVER])
    return server
