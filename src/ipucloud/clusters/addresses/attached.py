"""What follows for addresses from changes of the clusters that have them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.addresses.record import ADDRESSES, Address, lock, move
from ipucloud.contract.addresses import AddressState
from ipucloud.db.rows import Query
from ipucloud.reconcile.wake import wake

_OF_CLUSTER = Query(
    """
    SELECT id FROM addresses WHERE project_id = :project_id AND cluster_id = :cluster_id
       AND state IN ('attaching', 'attached')
     ORDER BY id FOR NO KEY UPDATE
    """,
    UUID,
)
_OF_SERVERS = Query(
    """
    SELECT a.id FROM addresses a JOIN poplar_servers s ON (s.project_id, s.id) = (a.project_id, a.server_id)
     WHERE a.project_id = :project_id AND a.cluster_id = :cluster_id AND s.ordinal = ANY (CAST(:ordinals AS integer[]))
     ORDER BY a.id
    """,
    UUID,
)


async def let_go(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> None:
    """A locked cluster is being deleted: its addresses are detached, and stay."""
    for each in await _OF_CLUSTER.all(connection, {"project_id": project_id, "cluster_id": cluster_id}):
        await take(connection, await lock(connection, project_id=project_id, address_id=each))


async def renew(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, ordinals: Sequence[int]) -> None:
    """Servers of a locked cluster have started: look again at whether they have their addresses."""
    values = {"project_id": project_id, "cluster_id": cluster_id, "ordinals": [*ordinals]}
    for each in await _OF_SERVERS.all(connection, values):
        await wake(connection, kind=ADDRESSES, key=str(each), project_id=project_id)


async def take(connection: AsyncConnection, address: Address) -> None:
    """Have a locked address detached."""
    await move(connection, address._replace(revision=address.revision + 1), AddressState.DETACHING)
    await wake_address(connection, address)


async def wake_address(connection: AsyncConnection, address: Address) -> None:
    await wake(connection, kind=ADDRESSES, key=str(address.id), project_id=address.project_id)
