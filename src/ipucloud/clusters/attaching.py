"""Attaching something of a project to a Poplar server of a cluster: what the requests have in common."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import LockedCluster
from ipucloud.clusters.nouns import Kind
from ipucloud.clusters.servers import UNKNOWN_SERVER, Server, lock_cluster_in_use, server_of
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import NOT_FOUND, STATE_CONFLICT, Problem


class Attachable(Protocol):
    """One of a kind, locked. `cluster_id`: whose server has it, or is to have it."""

    @property
    def name(self) -> str: ...
    @property
    def region(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def cluster_id(self) -> UUID | None: ...


async def lock_cluster_to_attach_to(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, kind: Kind
) -> LockedCluster:
    """The cluster in use that a request names. Raises `Problem`: not_found, which names the cluster, and
    state_conflict."""
    try:
        what = f"{kind.nouns.capitalize()} are attached to servers"
        return await lock_cluster_in_use(connection, actor, cluster_id, what)
    except Problem as problem:
        if problem.kind is not NOT_FOUND:
            raise
        sentence = f"The project has no cluster {cluster_id}; `GET …/clusters` lists those it has."
        raise Problem(NOT_FOUND, sentence) from None


async def server_to_attach_to(
    connection: AsyncConnection, actor: Actor, cluster: LockedCluster, ref: str | None, kind: Kind
) -> Server:
    """The cluster's Poplar server by name or id, by default the first. Raises `Problem` validation_failed."""
    server = await server_of(connection, actor, cluster.id, ref)
    if server is None:
        raise kind.invalid(UNKNOWN_SERVER)
    return server


def refuse_unless_free(kind: Kind, resource: Attachable, cluster: LockedCluster) -> None:
    """Raise `Problem` state_conflict for what is in another region, at another server, or not available."""
    if cluster.region != resource.region:
        raise Problem(
            STATE_CONFLICT,
            f"{kind.noun.capitalize()} {resource.name} is in {resource.region}, and cluster {cluster.name} in"
            f" {cluster.region}. Choose a cluster in the region of the {kind.noun}.",
        )
    if resource.cluster_id is not None:
        raise Problem(
            STATE_CONFLICT,
            f"Another server has {kind.noun} {resource.name}, or it is {resource.state}. Detach it, and wait until it"
            " is `available`.",
        )
    if resource.state != "available":
        raise kind.conflict(resource.name, resource.state, "be attached")
