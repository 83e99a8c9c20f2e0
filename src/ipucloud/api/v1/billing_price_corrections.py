"""Corrections of past prices, for operators: preview one, carry it out, see how far its re-rating is."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.idempotency import Answer
from ipucloud.api.problems import invalid
from ipucloud.api.reads import reading_platform
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.v1.catalogue import listing
from ipucloud.api.writes import change_platform
from ipucloud.billing.ledger.rerating import correct, corrections, preview
from ipucloud.contract.price_corrections import (
    PriceCorrectionBody,
    PriceCorrectionOrder,
    PriceCorrectionOut,
    PriceCorrectionPage,
    PriceCorrectionPreviewOut,
)
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import STATE_CONFLICT, FieldError
from ipucloud.kernel.money import UNIT_PRICE_LIMIT, MoneyError, unit_price

routes = router()


@routes.get(
    "/v1/billing/price-corrections",
    **operation(
        "listPriceCorrections",
        "List corrections of past prices",
        Permission.PLATFORM_WRITE,
        gives=PriceCorrectionPage,
    ),
)
async def list_price_corrections(request: Request) -> Response:
    """List all corrections, the newest first, with what they change and how far their re-rating is."""
    async with reading_platform(request) as connection:
        return listing(request, await corrections(connection))


@routes.post(
    "/v1/billing/price-corrections:preview",
    **operation(
        "previewPriceCorrection",
        "Preview a correction of a past price",
        Permission.PLATFORM_WRITE,
        gives=PriceCorrectionPreviewOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def preview_price_correction(request: Request, body: PriceCorrectionBody) -> Response:
    """Show what a correction would change, and for whom. Nothing is changed.

    The minutes of clusters that are in use count up to now.
    """
    _check(body)

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        default = services_of(request).settings.currency
        shown = await preview(connection, body, token_id=principal.token_id, default=default)
        return Answer(200, shown.model_dump_json().encode())

    return await change_platform(request, effect)


@routes.post(
    "/v1/billing/price-corrections",
    **operation(
        "correctPrice",
        "Correct a past price",
        Permission.PLATFORM_WRITE,
        status=201,
        gives=PriceCorrectionOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def correct_price(request: Request, body: PriceCorrectionOrder) -> Response:
    """Correct a past price as previewed, and rate what was used again.

    Closed hours are rated again by a worker: the old charges are taken back and new ones posted. Sealed months stay as
    they are: more is charged on the next invoice, and less is credited by a credit note.
    """
    _check(body)

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        default = services_of(request).settings.currency
        correction = await correct(connection, body, token_id=principal.token_id, default=default)
        return Answer(201, correction.model_dump_json().encode())

    return await change_platform(request, effect)


def _check(body: PriceCorrectionBody) -> None:
    """Raise `Problem` validation_failed for an amount that is no price."""
    try:
        right = unit_price(body.unit_price.amount) < UNIT_PRICE_LIMIT
    except MoneyError:
        right = False
    if not right:
        sentence = "A price must be at least 0, below a million, and have at most ten decimal places."
        raise invalid([FieldError("/unit_price", "not_a_price", sentence)])
