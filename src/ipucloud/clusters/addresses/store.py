"""What requests do with addresses. Each works inside the caller's transaction, and wakes the worker.

The order of locks is project, cluster, address.
"""

from __future__ import annotations

from uuid import UUID

import orjson
import sqlalchemy as sa
from psycopg import errors as pg_errors
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import close_stored
from ipucloud.catalogue.queries import ADDRESS_SKU, Catalogue
from ipucloud.clusters.addresses.attached import take, wake_address
from ipucloud.clusters.addresses.quota import require_address_quota
from ipucloud.clusters.addresses.record import Address, lock, move, report
from ipucloud.clusters.admission import Terms, refuse_by_terms, storage_terms
from ipucloud.clusters.attaching import lock_cluster_to_attach_to, server_to_attach_to
from ipucloud.clusters.cost_limits.store import refused_storage
from ipucloud.config import Settings
from ipucloud.contract.addresses import AddressAttach, AddressCreate, AddressPatch, AddressState
from ipucloud.contract.event_types.projects import ADDRESS_CREATED, ADDRESS_UPDATED
from ipucloud.db.rows import Query
from ipucloud.identity import projects
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import (
    IN_USE,
    NAME_TAKEN,
    STATE_CONFLICT,
    VALIDATION_FAILED,
    FieldError,
    Problem,
    not_found,
)
from ipucloud.kernel.ids import new_id

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
        raise _invalid(FieldError("/region", "unknown_region", sentence))
    terms = await _admitted(connection, actor, region.slug, tags=body.tags, settings=settings)
    default = settings.address_limit
    await require_address_quota(connection, project_id=actor.project_id, region=region.slug, default=default)
    made = new_id()
    values = {
        "id": made,
        "project_id": actor.project_id,
        "name": body.name,
        "tags": orjson.dumps(body.tags).decode(),
        "region": region.slug,
        "external_name": f"{made}-1",
        "sku": ADDRESS_SKU,
        "currency": terms.per_minute.currency,
        "created_by": actor.token_id,
    }
    await _named(connection, _INSERT, values, body.name)
    address = await lock(connection, project_id=actor.project_id, address_id=made)
    await report(connection, ADDRESS_CREATED, address, request_id=actor.request_id)
    await wake_address(connection, address)
    return made


async def change(connection: AsyncConnection, actor: Actor, address_id: UUID, body: AddressPatch) -> None:
    """Change the given fields. Raises `Problem`: not_found, state_conflict, name_taken."""
    address = await lock(connection, project_id=actor.project_id, address_id=address_id)
    if address.state in {_S.DELETING, _S.DELETED}:
        raise _conflict(address, "be changed")
    name = address.name if body.name is None else body.name
    tags = address.tags if body.tags is None else body.tags
    if (name, tags) == (address.name, address.tags):
        return
    values = {"project_id": address.project_id, "id": address.id, "name": name, "tags": orjson.dumps(tags).decode()}
    await _named(connection, _CHANGE, values, name)
    await report(connection, ADDRESS_UPDATED, address._replace(name=name), request_id=actor.request_id)


async def attach(connection: AsyncConnection, actor: Actor, address_id: UUID, body: AddressAttach) -> None:
    """Let the address lead to a server of a cluster in use; asking again for the same server changes nothing.

    Raises `Problem`: not_found, state_conflict, validation_failed.
    """
    if await _OWN.one_or_none(connection, {"project_id": actor.project_id, "id": address_id}) is None:
        raise not_found()
    what = "Addresses are attached to servers"
    cluster = await lock_cluster_to_attach_to(connection, actor, body.cluster, what)
    address = await lock(connection, project_id=actor.project_id, address_id=address_id)
    server = await server_to_attach_to(connection, actor, cluster, body.poplar_server, "address")
    if address.server_id == server.id and address.state in {_S.ATTACHING, _S.ATTACHED}:
        return
    if cluster.region != address.region:
        raise Problem(
            STATE_CONFLICT,
            f"Address {address.name} is in {address.region}, and cluster {cluster.name} in {cluster.region}. Choose a"
            " cluster in the region of the address.",
        )
    if address.cluster_id is not None:
        raise Problem(
            STATE_CONFLICT,
            f"Another server has address {address.name}, or it is {address.state}. Detach it, and wait until it is"
            " `available`.",
        )
    if address.state is not _S.AVAILABLE:
        raise _conflict(address, "be attached")
    wanted = address._replace(cluster_id=cluster.id, server_id=server.id, revision=address.revision + 1)
    await move(connection, wanted, _S.ATTACHING)
    await wake_address(connection, address)


async def detach(connection: AsyncConnection, actor: Actor, address_id: UUID) -> None:
    """Take the address from its server; one that no server has stays as it is. Raises `Problem`: not_found,
    state_conflict."""
    address = await lock(connection, project_id=actor.project_id, address_id=address_id)
    if address.state in {_S.AVAILABLE, _S.DETACHING}:
        return
    if address.state not in {_S.ATTACHING, _S.ATTACHED}:
        raise _conflict(address, "be detached")
    await take(connection, address)


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


async def _named(connection: AsyncConnection, statement: sa.TextClause, values: dict[str, object], name: str) -> None:
    try:
        await connection.execute(statement, values)
    except sa.exc.IntegrityError as error:
        if isinstance(error.orig, pg_errors.UniqueViolation):
            raise Problem(
                NAME_TAKEN, f"Another address of the project is named {name}. Choose another name, or delete that one."
            ) from error
        raise


async def _admitted(
    connection: AsyncConnection, actor: Actor, region: str, *, tags: dict[str, str], settings: Settings
) -> Terms:
    terms = await storage_terms(connection, actor, ADDRESS_SKU, region, gib=1, tags=tags, currency=settings.currency)
    if terms is None:
        sentence = (
            f"Addresses are not offered in {region}: the operator has set no price of {ADDRESS_SKU} there in the"
            " currency of the account that pays."
        )
        raise _invalid(FieldError("/region", "not_offered", sentence))
    refuse_by_terms(terms)
    if terms.has_cost_limit:
        raise refused_storage()
    return terms


def _invalid(fault: FieldError) -> Problem:
    return Problem(VALIDATION_FAILED, "The address cannot be as requested; `errors` lists what to change.", [fault])


def _conflict(address: Address, what: str) -> Problem:
    return Problem(
        STATE_CONFLICT,
        f"Address {address.name} is `{address.state}` and cannot {what} now. Read it, and wait or choose another one.",
    )
