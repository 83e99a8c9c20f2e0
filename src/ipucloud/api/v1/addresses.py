"""Addresses: public ones that outlive clusters."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.resources import AttachableRoutes
from ipucloud.api.routing import router
from ipucloud.api.services import catalogue_of, services_of
from ipucloud.api.shapes import ProjectRef
from ipucloud.clusters.addresses import record
from ipucloud.clusters.addresses.queries import DOCUMENTS
from ipucloud.clusters.addresses.record import ADDRESSES
from ipucloud.contract.addresses import (
    AddressAttach,
    AddressCreate,
    AddressList,
    AddressOut,
    AddressPage,
    AddressPatch,
)

routes = router()
_addresses = AttachableRoutes(routes, __name__, ADDRESSES, DOCUMENTS, AddressOut)


@_addresses.create("Reserve an address")
async def create_address(request: Request, project: ProjectRef, body: AddressCreate) -> Response:
    """Reserve an address, which is billed by the minute from when it is `available` until it is deleted."""
    catalogue, settings = catalogue_of(request), services_of(request).settings
    return await _addresses.created(
        request, project, lambda on, by: record.create(on, by, body, catalogue=catalogue, settings=settings)
    )


_addresses.list(AddressList, AddressPage)
_addresses.get("Return an address, and the server that has it.")
_addresses.patch(AddressPatch, "Change the name, the tags or the allowed sources of an address.")
_addresses.attach(
    AddressAttach,
    "Let a Poplar server of a cluster in use be reached through the address, besides its own; one server at a time.",
)
_addresses.detach("Take the address from its server. Logins through it end; the address stays.")
_addresses.delete("Give back an address that no server has. It is billed until now.")
