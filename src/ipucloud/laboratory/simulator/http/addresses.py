"""The routes of public addresses."""

from __future__ import annotations

from starlette.requests import Request
from starlette.routing import Route

from ipucloud.laboratory.simulator.http.calls import Calls, body_of
from ipucloud.laboratory.simulator.site import Site
from ipucloud.wire.storage import Address, AddressAttachment, AddressSpec


def address_routes(site: Site, calls: Calls) -> list[Route]:
    """What `ipucloud.laboratory.simulator.http.app` offers of addresses."""
    addresses = site.addresses

    async def get_address(request: Request) -> Address:
        return addresses.get(request.path_params["name"])

    async def put_address(request: Request) -> Address:
        return addresses.put(request.path_params["name"], await body_of(request, AddressSpec))

    async def attach_address(request: Request) -> Address:
        attachment = await body_of(request, AddressAttachment)
        return await addresses.attach(request.path_params["name"], attachment, site.host_servers.check_address)

    async def delete_address(request: Request) -> None:
        addresses.delete(request.path_params["name"])

    address = "/v1/addresses/{name}"
    return [
        calls.route("GET", address, "addresses.get", get_address),
        calls.route("PUT", address, "addresses.put", put_address),
        calls.route("PUT", f"{address}/attachment", "addresses.attach", attach_address),
        calls.route("DELETE", address, "addresses.delete", delete_address),
    ]
