"""For operators: what is expected of a region's hardware, what differs, and the history of machines and hosts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic_core import to_json
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.admin import inventory
from ipucloud.api.idempotency import Answer
from ipucloud.api.reads import reading_platform
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of
from ipucloud.api.v1.catalogue import RegionRef
from ipucloud.api.v1.operator.lists import keyed_list
from ipucloud.api.writes import change_platform
from ipucloud.contract.lists import Paged
from ipucloud.contract.operator_inventory import (
    MOST_BYTES,
    ExpectedHardwarePage,
    ExpectedInventoryOut,
    HardwareEventList,
    HardwareEventPage,
    HardwareHistoryList,
    HardwareHistoryPage,
    InventoryAccept,
    InventoryFindingList,
    InventoryFindingPage,
    InventoryReplace,
    InventoryReplaceQuery,
)
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.inventory.expected import changes
from ipucloud.inventory.health.codes import Kind
from ipucloud.kernel.errors import STATE_CONFLICT, not_found

routes = router()

_EXPECTED = "/v1/operator/regions/{region}/expected-inventory"


@routes.get(
    _EXPECTED,
    **operation(
        "listExpectedHardware", "List the expected inventory", Permission.PLATFORM_READ, gives=ExpectedHardwarePage
    ),
)
async def list_expected(request: Request, region: RegionRef, query: Paged) -> Response:
    """List the machines and hosts that are expected of a region, by kind and name."""
    return await keyed_list(request, inventory.EXPECTED, query, region=await _slug(request, region))


@routes.put(
    _EXPECTED,
    **operation(
        "replaceExpectedInventory",
        "Set the expected inventory",
        Permission.PLATFORM_WRITE,
        gives=ExpectedInventoryOut,
        body_limit=MOST_BYTES,
    ),
)
async def replace_expected(
    request: Request, region: RegionRef, body: InventoryReplace, query: InventoryReplaceQuery
) -> Response:
    """Expect exactly these machines and hosts of a region.

    Hardware that is surplus, or shows another serial number, model or place, gets no new clusters once two readings
    have shown that; clusters that hold it keep it. `withheld` says how much of it is registered.
    """

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        replacement = inventory.Importing(
            _region_slug(request, region), body.items, str(principal.token_id), query.dry_run
        )
        return Answer(200, to_json(await inventory.put_expected(connection, replacement)))

    return await change_platform(request, effect)


@routes.delete(
    _EXPECTED,
    **operation("deleteExpectedInventory", "Delete the expected inventory", Permission.PLATFORM_WRITE, status=204),
)
async def delete_expected(request: Request, region: RegionRef) -> Response:
    """Expect nothing of a region any more: its hardware is not compared, and its findings end."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        if not await changes.remove(connection, _region_slug(request, region)):
            raise not_found()
        return Answer(204, b"")

    return await change_platform(request, effect)


@routes.post(
    _EXPECTED + ":accept",
    **operation(
        "acceptShownHardware",
        "Accept what hardware shows",
        Permission.PLATFORM_WRITE,
        gives=ExpectedInventoryOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def accept_shown(request: Request, region: RegionRef, body: InventoryAccept) -> Response:
    """Expect what machines and hosts show now, such as the serial number of one that was exchanged.

    What is missing is not expected any more, and what is surplus is. With `everything`, a region that has no expected
    inventory gets one with all that its site shows.
    """

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        slug, token = _region_slug(request, region), str(principal.token_id)
        return Answer(200, to_json(await inventory.accept_shown(connection, slug, body, token=token)))

    return await change_platform(request, effect)


@routes.get(
    "/v1/operator/inventory-findings",
    **operation(
        "listInventoryFindings", "List inventory findings", Permission.PLATFORM_READ, gives=InventoryFindingPage
    ),
)
async def list_findings(request: Request, query: InventoryFindingList) -> Response:
    """List where the hardware that sites show differs from what is expected."""
    return await keyed_list(request, inventory.FINDINGS, query)


@routes.get(
    "/v1/operator/hardware-events",
    **operation("listHardwareEvents", "List hardware events", Permission.PLATFORM_READ, gives=HardwareEventPage),
)
async def list_events(request: Request, query: HardwareEventList) -> Response:
    """List capacity that was added or removed, and exchanged, changed and accepted hardware, oldest first."""
    return await keyed_list(request, inventory.EVENTS, query)


@routes.get(
    "/v1/operator/machines/{machine}/history",
    **operation("getMachineHistory", "Read a machine's history", Permission.PLATFORM_READ, gives=HardwareHistoryPage),
)
async def machine_history(
    request: Request,
    machine: Annotated[str, Field(description="Name of the machine.", examples=["lux2-p001-m07"])],
    query: HardwareHistoryList,
) -> Response:
    """List everything that happened to a machine, oldest first: clusters, health reports, maintenance, exchanges."""
    return await _history(request, "machine", machine, query)


@routes.get(
    "/v1/operator/hosts/{host}/history",
    **operation("getHostHistory", "Read a host's history", Permission.PLATFORM_READ, gives=HardwareHistoryPage),
)
async def host_history(
    request: Request,
    host: Annotated[str, Field(description="Name of the host.", examples=["lux2-h004"])],
    query: HardwareHistoryList,
) -> Response:
    """List everything that happened to a host, oldest first, as for a machine."""
    return await _history(request, "host", host, query)


async def _history(request: Request, kind: Kind, name: str, query: HardwareHistoryList) -> Response:
    async with reading_platform(request) as connection:
        if not await inventory.EXISTS.one(connection, {"kind": kind, "name": name}):
            raise not_found()
    return await keyed_list(request, inventory.HISTORY[kind], query, name=name)


async def _slug(request: Request, region: str) -> str:
    async with reading_platform(request):
        return _region_slug(request, region)


def _region_slug(request: Request, region: str) -> str:
    """The slug of a region of the catalogue. Raises `Problem` not_found."""
    entry = catalogue_of(request).find_region(region)
    if entry is None:
        raise not_found()
    return entry.slug
