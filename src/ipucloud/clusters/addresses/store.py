"""What requests do with addresses, and what follows for them from changes of the clusters that have them.

The order of locks is project, cluster, address.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import close_stored
from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.addresses.quota import require_address_quota
from ipucloud.clusters.addresses.record import ADDRESSES, Address, lock, move, report
from ipucloud.clusters.attaching import lock_cluster_to_attach_to, refuse_unless_free, server_to_attach_to
from ipucloud.clusters.nouns import ADDRESS
from ipucloud.config import Settings
from ipucloud.contract.addresses import AddressAttach, AddressCreate, AddressPatch, AddressState
from ipucloud.contract.event_types.projects import ADDRESS_CREATED, ADDRESS_UPDATED
from ipucloud.db.rows import Query
from ipucloud.identity import projects
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import (
    IN_USE,
    STATE_CONFLICT,
    FieldError,
    Problem,
    not_found,
)
from ipucloud.kernel.ids import new_id
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


async def detach_all(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> None:
    """A locked cluster is being deleted: its addresses are detached, and stay."""
    for address_id in await _OF_CLUSTER.all(connection, {"project_id": project_id, "cluster_id": cluster_id}):
        await begin_detach(connection, await lock(connection, project_id=project_id, address_id=address_id))


async def renew(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, ordinals: Sequence[int]) -> None:
    """Servers of a locked cluster have started: look again at whether they have their addresses."""
    values = {"project_id": project_id, "cluster_id": cluster_id, "ordinals": [*ordinals]}
    for address_id in await _OF_SERVERS.all(connection, values):
        await wake(connection, kind=ADDRESSES, key=str(address_id), project_id=project_id)


async def begin_detach(connection: AsyncConnection, address: Address) -> None:
    """Have a locked address detached."""
    await move(connection, address._replace(revision=address.revision + 1), AddressState.DETACHING)
    await wake_address(connection, address)


async def wake_address(connection: AsyncConnection, address: Address) -> None:
    await wake(connection, kind=ADDRESSES, key=str(address.id), project_id=address.project_id)


_S = AddressState

_INSERT = sa.text(
    """
    INSERT INTO addresses (id, project_id, name, tags, region, external_name, sku, currency, created_by)
    VALUES (:id, :project_id, :name, CAST(:tags AS jsonb), :region, :external_name, :sku, :currency, :created_by)
    """
)
_CHANGE = sa.text(
    """
    UPDATE addresses SET name = :name, tags = CAST(:tags AS jsonb) WHERE project_id = :project_id AND id = :id
    """
)
# Locked, so that none of another project is found; the lock lets every change pass.
_OWN = Query("SELECT id FROM addresses WHERE project_id = :project_id AND id = :id FOR KEY SHARE", UUID)
_ANY = Query("SELECT EXISTS (SELECT FROM addresses WHERE project_id = :project_id AND state <> 'deleted')", bool)


async def create(
    connection: AsyncConnection, actor: Actor, body: AddressCreate, *, catalogue: Catalogue, settings: Settings
) -> UUID:
    """Record an address to reserve, with its event and work item; its id.

    Raises `Problem`: validation_failed, quota_exceeded, name_taken, budget_reached, payment_overdue,
    cost_limit_reached, state_conflict.
    """
    await projects.lock(connection, actor.project_id)
    region = catalogue.find_region(body.region)
    if region is None:
        sentence = "This region does not exist; `GET /v1/regions` lists them."
        raise ADDRESS.invalid(FieldError("/region", "unknown_region", sentence))
    terms = await ADDRESS.terms(connection, actor, region.slug, gib=1, tags=body.tags, settings=settings)
    default = settings.address_limit
    await require_address_quota(connection, project_id=actor.project_id, region=region.slug, default=default)
    address_id = new_id()
    values = {
        "id": address_id,
        "project_id": actor.project_id,
        "name": body.name,
        "tags": orjson.dumps(body.tags).decode(),
        "region": region.slug,
        "external_name": f"{address_id}-1",
        "sku": ADDRESS.sku,
        "currency": terms.per_minute.currency,
        "created_by": actor.token_id,
    }
    await ADDRESS.write(connection, _INSERT, values, name=body.name)
    address = await lock(connection, project_id=actor.project_id, address_id=address_id)
    await report(connection, ADDRESS_CREATED, address, request_id=actor.request_id)
    await wake_address(connection, address)
    return address_id


async def change(connection: AsyncConnection, actor: Actor, address_id: UUID, body: AddressPatch) -> None:
    """Change the given fields. Raises `Problem`: not_found, state_conflict, name_taken."""
    address = await lock(connection, project_id=actor.project_id, address_id=address_id)
    if address.state in {_S.DELETING, _S.DELETED}:
        raise ADDRESS.conflict(address.name, address.state, "be changed")
    name = address.name if body.name is None else body.name
    tags = address.tags if body.tags is None else body.tags
    if (name, tags) == (address.name, address.tags):
        return
    values = {"project_id": address.project_id, "id": address.id, "name": name, "tags": orjson.dumps(tags).decode()}
    await ADDRESS.write(connection, _CHANGE, values, name=name)
    await report(connection, ADDRESS_UPDATED, address._replace(name=name), request_id=actor.request_id)


async def attach(connection: AsyncConnection, actor: Actor, address_id: UUID, body: AddressAttach) -> None:
    """Let the address lead to a server of a cluster in use; asking again for the same server changes nothing.

    Raises `Problem`: not_found, state_conflict, validation_failed.
    """
    if await _OWN.one_or_none(connection, {"project_id": actor.project_id, "id": address_id}) is None:
        raise not_found()
    cluster = await lock_cluster_to_attach_to(connection, actor, body.cluster, ADDRESS)
    address = await lock(connection, project_id=actor.project_id, address_id=address_id)
    server = await server_to_attach_to(connection, actor, cluster, body.poplar_server, ADDRESS)
    if address.server_id == server.id and address.state in {_S.ATTACHING, _S.ATTACHED}:
        return
    refuse_unless_free(ADDRESS, address, cluster)
    desired = address._replace(cluster_id=cluster.id, server_id=server.id, revision=address.revision + 1)
    await move(connection, desired, _S.ATTACHING)
    await wake_address(connection, address)


async def detach(connection: AsyncConnection, actor: Actor, address_id: UUID) -> None:
    """Take the address from its server; one that no server has stays as it is. Raises `Problem`: not_found,
    state_conflict."""
    address = await lock(connection, project_id=actor.project_id, address_id=address_id)
    if address.state in {_S.AVAILABLE, _S.DETACHING}:
        return
    if address.state not in {_S.ATTACHING, _S.ATTACHED}:
        raise ADDRESS.conflict(address.name, address.state, "be detached")
    await begin_detach(connection, address)


async def delete(connection: AsyncConnection, actor: Actor, address_id: UUID) -> None:
    """Have the address given back, and bill it no longer. Raises `Problem`: not_found, in_use, state_conflict."""
    address = await lock(connection, project_id=actor.project_id, address_id=address_id)
    if address.state is _S.DELETED:
        raise Problem(STATE_CONFLICT, f"Address {address.name} is deleted already.")
    if address.state is _S.DELETING:
        return
    if address.cluster_id is not None:
        raise Problem(
            IN_USE,
            f"A server has address {address.name}. Detach it, and wait until it is `available`, then delete it.",
        )
    await move(connection, address, _S.DELETING)
    await wake_address(connection, address)
    await close_stored(connection, project_id=address.project_id, resource_id=address.id)


async def refuse_if_any(connection: AsyncConnection, project_id: UUID) -> None:
    """Raise `Problem` in_use while a project that is being deleted has addresses."""
    if await _ANY.one(connection, {"project_id": project_id}):
        raise Problem(IN_USE, "Delete the project's addresses first, and wait until they are `deleted`.")
