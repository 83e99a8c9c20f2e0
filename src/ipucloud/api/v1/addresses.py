"""Addresses: public ones that outlive clusters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import list_of
from ipucloud.api.reads import read_one
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of, services_of
from ipucloud.api.shapes import ProjectRef
from ipucloud.api.writes import actor, change
from ipucloud.clusters.addresses import store
from ipucloud.clusters.addresses.queries import GET_ADDRESS, LIST_ADDRESSES, address_document
from ipucloud.contract.addresses import (
    AddressAttach,
    AddressCreate,
    AddressList,
    AddressOut,
    AddressPage,
    AddressPatch,
)
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import (
    BUDGET_REACHED,
    COST_LIMIT_REACHED,
    IN_USE,
    NAME_TAKEN,
    PAYMENT_OVERDUE,
    QUOTA_EXCEEDED,
    STATE_CONFLICT,
)

routes = router()

_ALL = "/v1/projects/{project}/addresses"
_ONE = _ALL + "/{address:ref}"
_COSTS = (BUDGET_REACHED, COST_LIMIT_REACHED, PAYMENT_OVERDUE, QUOTA_EXCEEDED, STATE_CONFLICT)
AddressId = Annotated[UUID, Field(description="Id of the address, or its name.")]


@routes.post(
    _ALL,
    **operation(
        "createAddress",
        "Reserve an address",
        Permission.CLUSTER_WRITE,
        gives=AddressOut,
        status=202,
        errors=(NAME_TAKEN, *_COSTS),
    ),
)
async def create_address(request: Request, project: ProjectRef, body: AddressCreate) -> Response:
    """Reserve an address, which is billed by the minute from when it is `available` until it is deleted."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        catalogue, settings = catalogue_of(request), services_of(request).settings
        address_id = await store.create(connection, actor(request, scope), body, catalogue=catalogue, settings=settings)
        document = await address_document(connection, project_id=scope.project_id, address_id=address_id)
        location = f"/v1/projects/{scope.project_id}/addresses/{address_id}"
        return Answer(202, document.encode(), {"Location": location}, address_id)

    return await change(request, project, effect)


@routes.get(_ALL, **operation("listAddresses", "List addresses", Permission.CLUSTER_READ, gives=AddressPage))
async def list_addresses(request: Request, project: ProjectRef, query: AddressList) -> Response:
    """List the project's addresses, newest first. Deleted ones are listed where `state` asks for them."""
    return await list_of(request, project, LIST_ADDRESSES, query)


@routes.get(_ONE, **operation("getAddress", "Read an address", Permission.CLUSTER_READ, gives=AddressOut))
async def get_address(request: Request, project: ProjectRef, address: AddressId) -> Response:
    """Return an address, and the server that has it."""
    document, _ = await read_one(request, GET_ADDRESS, project, address_id=address)
    return Response(document, media_type=JSON)


@routes.patch(
    _ONE,
    **operation(
        "updateAddress",
        "Change an address",
        Permission.CLUSTER_WRITE,
        gives=AddressOut,
        errors=(NAME_TAKEN, STATE_CONFLICT),
    ),
)
async def update_address(request: Request, project: ProjectRef, address: AddressId, body: AddressPatch) -> Response:
    """Change the name or the tags of an address."""
    return await _changed(request, project, address, lambda on, by: store.change(on, by, address, body))


@routes.post(
    _ONE + ":attach",
    **operation(
        "attachAddress",
        "Attach an address",
        Permission.CLUSTER_WRITE,
        gives=AddressOut,
        status=202,
        errors=(STATE_CONFLICT,),
    ),
)
async def attach_address(request: Request, project: ProjectRef, address: AddressId, body: AddressAttach) -> Response:
    """Let a Poplar server of a cluster in use be reached through the address, besides its own; one server at a time."""
    return await _changed(request, project, address, lambda on, by: store.attach(on, by, address, body), status=202)


@routes.post(
    _ONE + ":detach",
    **operation(
        "detachAddress",
        "Detach an address",
        Permission.CLUSTER_WRITE,
        gives=AddressOut,
        status=202,
        errors=(STATE_CONFLICT,),
    ),
)
async def detach_address(request: Request, project: ProjectRef, address: AddressId) -> Response:
    """Take the address from its server. Logins through it end; the address stays."""
    return await _changed(request, project, address, lambda on, by: store.detach(on, by, address), status=202)


@routes.delete(
    _ONE,
    **operation(
        "deleteAddress",
        "Delete an address",
        Permission.CLUSTER_WRITE,
        gives=AddressOut,
        status=202,
        errors=(IN_USE, STATE_CONFLICT),
    ),
)
async def delete_address(request: Request, project: ProjectRef, address: AddressId) -> Response:
    """Give back an address that no server has. It is billed until now."""
    return await _changed(request, project, address, lambda on, by: store.delete(on, by, address), status=202)


async def _changed(
    request: Request,
    project: str,
    address: UUID,
    effect: Callable[[AsyncConnection, Actor], Awaitable[None]],
    *,
    status: int = 200,
) -> Response:
    """Change an address; the answer shows it afterwards."""

    async def changed(connection: AsyncConnection, scope: Scope) -> Answer:
        await effect(connection, actor(request, scope))
        document = await address_document(connection, project_id=scope.project_id, address_id=address)
        return Answer(status, document.encode(), subject_id=address)

    return await change(request, project, changed)
