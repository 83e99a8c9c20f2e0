"""Who issues invoices, and the tax rates; for operators."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError, to_json
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON, changed_since, expected_version, tag, tagged
from ipucloud.api.idempotency import Answer
from ipucloud.api.reads import principal
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import IF_MATCH, IF_NONE_MATCH, Page
from ipucloud.api.v1.billing import CountryCode, Line, Lines
from ipucloud.api.writes import change_platform
from ipucloud.billing.invoices.seller import seller_document, update_seller
from ipucloud.billing.invoices.tax_rates import NewTaxRate, TaxRate, add_rate, all_rates
from ipucloud.clusters.models import Body
from ipucloud.db.statements import Statements
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import PRECONDITION_FAILED, STATE_CONFLICT
from ipucloud.kernel.money import Amount, plain, rounded

routes = router()

RATE_PLACES = 6
Kind = Annotated[str, Field(pattern=r"^[a-z][a-z-]{0,30}$", description="invoices use `standard`")]


class SellerOut(BaseModel):
    """Who issues invoices."""

    legal_name: str
    address: str
    country: str = Field(examples=["LU"])
    tax_id: str | None
    bank: str | None = Field(description="where to pay, as it is printed")
    version: int


class SellerPatch(Body):
    """What is left out stays. Invoices that were issued stay as they are."""

    legal_name: Line | None = None
    address: Lines | None = None
    country: CountryCode | None = None
    tax_id: Line | None = None
    bank: Lines | None = None


class TaxRateOut(BaseModel):
    """A rate in [valid_from, valid_to)."""

    id: UUID
    country: str = Field(examples=["LU"])
    kind: str = Field(examples=["standard"])
    name: str = Field(description="as it is printed", examples=["VAT"])
    rate: str = Field(description="0.17 is 17 %", examples=["0.17"])
    valid_from: date
    valid_to: date | None = Field(description="null: until changed")
    source: str


class TaxRatePage(Page[TaxRateOut]):
    pass


def _rate(value: Decimal) -> Decimal:
    if not 0 <= value <= 1 or value != rounded(value, RATE_PLACES):
        raise PydanticCustomError("not_a_rate", "A rate is 0 to 1, with six decimal places at most")
    return value


Rate = Annotated[Amount, AfterValidator(_rate)]


class TaxRateCreate(Body):
    """A rate that takes the place of the one in force from `valid_from` on."""

    country: CountryCode
    kind: Kind = "standard"
    name: Annotated[str, Field(min_length=1, max_length=20, pattern=r"^[^\x00-\x1f\x7f]+$")] = "VAT"
    rate: Rate = Field(description="0.17 is 17 %; at most six decimal places", examples=["0.17"])
    valid_from: Annotated[date, Field(strict=False)] = Field(description="in the future, or where no rate is set")
    source: Line = Field(examples=["tax office, letter of May"])


@routes.get(
    "/v1/billing/seller",
    **operation(
        "getSeller", "Read who issues invoices", Permission.PLATFORM_WRITE, gives=SellerOut, headers=(IF_NONE_MATCH,)
    ),
)
async def get_seller(request: Request) -> Response:
    """What invoices of today would say of their issuer."""
    await principal(request)
    async with services_of(request).database.read() as connection:
        document, version = await seller_document(connection)
    return tagged(request, document, version)


@routes.patch(
    "/v1/billing/seller",
    **operation(
        "updateSeller",
        "Change who issues invoices",
        Permission.PLATFORM_WRITE,
        gives=SellerOut,
        errors=(PRECONDITION_FAILED,),
        headers=(IF_MATCH,),
    ),
)
async def patch_seller(request: Request, body: SellerPatch) -> Response:
    """Change what is given; for invoices from now on."""
    if_version = expected_version(request)

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
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
    """Every rate that ever was or will be in force, by country."""
    await principal(request)
    async with services_of(request).database.read() as connection:
        return Response(await _rates(connection), media_type=JSON)


@routes.post(
    "/v1/billing/tax-rates",
    **operation("addTaxRate", "Set a tax rate", Permission.PLATFORM_WRITE, gives=TaxRatePage, errors=(STATE_CONFLICT,)),
)
async def add_tax_rate(request: Request, body: TaxRateCreate) -> Response:
    """Add a rate; what is there already stays. Answers with all rates."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        await add_rate(connection, NewTaxRate(**dict(body)))
        return Answer(200, await _rates(connection))

    return await change_platform(request, effect)


async def _rates(connection: Statements) -> bytes:
    return to_json({"items": [_shown(each) for each in await all_rates(connection)], "next_cursor": None})


def _shown(rate: TaxRate) -> dict[str, object]:
    return {name: getattr(rate, name) for name in TaxRate.__slots__} | {"rate": plain(rate.rate)}
