"""The issuer of invoices, and tax rates; for operators."""

from __future__ import annotations

from pydantic_core import to_json
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON, changed_since, expected_version, tag, tagged
from ipucloud.api.idempotency import Answer
from ipucloud.api.reads import reading_platform
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import IF_MATCH, IF_NONE_MATCH
from ipucloud.api.v1.money import refuse_unknown_scheme, refuse_unprintable
from ipucloud.api.writes import change_platform
from ipucloud.billing.invoices.seller import NewTaxRate, add_rate, all_rates, seller_document, update_seller
from ipucloud.contract.invoices import SellerOut, SellerPatch, TaxRateCreate, TaxRatePage
from ipucloud.db.statements import Statements
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import PRECONDITION_FAILED, STATE_CONFLICT
from ipucloud.kernel.money import plain

routes = router()


@routes.get(
    "/v1/billing/seller",
    **operation(
        "getSeller", "Read the issuer of invoices", Permission.PLATFORM_WRITE, gives=SellerOut, headers=(IF_NONE_MATCH,)
    ),
)
async def get_seller(request: Request) -> Response:
    """Return the issuer as printed on invoices from now on."""
    async with reading_platform(request) as connection:
        document, version = await seller_document(connection)
    return tagged(request, document, version)


@routes.patch(
    "/v1/billing/seller",
    **operation(
        "updateSeller",
        "Change the issuer of invoices",
        Permission.PLATFORM_WRITE,
        gives=SellerOut,
        errors=(PRECONDITION_FAILED,),
        headers=(IF_MATCH,),
    ),
)
async def patch_seller(request: Request, body: SellerPatch) -> Response:
    """Change the given fields, for invoices from now on."""
    if_version = expected_version(request)

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        refuse_unprintable(body)
        refuse_unknown_scheme(body.e_invoice)
        changed = await update_seller(connection, body.model_dump(exclude_none=True), if_version=if_version)
        document, version = await seller_document(connection)
        if not changed:
            raise changed_since(version, document)
        return Answer(200, document, {"ETag": tag(version, document)})

    return await change_platform(request, effect)


@routes.get(
    "/v1/billing/tax-rates",
    **operation("listTaxRates", "List tax rates", Permission.PLATFORM_WRITE, gives=TaxRatePage),
)
async def list_tax_rates(request: Request) -> Response:
    """List all past, current and future rates, by country."""
    async with reading_platform(request) as connection:
        return Response(await _rates(connection), media_type=JSON)


@routes.post(
    "/v1/billing/tax-rates",
    **operation("addTaxRate", "Add a tax rate", Permission.PLATFORM_WRITE, gives=TaxRatePage, errors=(STATE_CONFLICT,)),
)
async def add_tax_rate(request: Request, body: TaxRateCreate) -> Response:
    """Add a rate and return all rates. Existing rates are kept."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        refuse_unprintable(body, but="source")
        await add_rate(connection, NewTaxRate(**dict(body)))
        return Answer(200, await _rates(connection))

    return await change_platform(request, effect)


async def _rates(connection: Statements) -> bytes:
    rates = await all_rates(connection)
    return to_json({"items": [each._asdict() | {"rate": plain(each.rate)} for each in rates], "next_cursor": None})
