"""Calls for prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, nothing, segment
from ipucloud.client.models import (
    BookedPrice,
    Page,
    PaidPrice,
    Price,
    PriceCorrection,
    PriceCorrectionPreview,
    PricesAdded,
)


def list(*, sku: str | None = None, region: str | None = None, currency: str | None = None) -> Call[Page[Price]]:
    """Current and future list prices."""
    query = {"sku": sku, "region": region, "currency": currency}
    return request.get("prices", Page[Price], query, scoped=False)


def of_project(
    *, sku: str | None = None, region: str | None = None, currency: str | None = None
) -> Call[Page[PaidPrice]]:
    """The project's current and future prices: its account's contract prices, else list prices."""
    query = {"sku": sku, "region": region, "currency": currency}
    return request.get("prices", Page[PaidPrice], query)


def versions(
    *,
    sku: str | None = None,
    region: str | None = None,
    currency: str | None = None,
    account: Ref | None = None,
    contract: bool | None = None,
    state: str | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[BookedPrice]]:
    """Price versions; `contract`: only contract prices (True), or only list prices (False). Needs a platform token.

    `state`: past, current or future. `order`: account, sku or valid_from; with `-` the other way round.
    """
    query = {
        "sku": sku,
        "region": region,
        "currency": currency,
        "account": account,
        "contract": contract,
        "state": state,
        "order": order,
        "limit": limit,
    }
    return request.get("billing/prices", Page[BookedPrice], query, scoped=False)


def create(items: Sequence[Mapping[str, object]]) -> Call[PricesAdded]:
    """Add price versions, all or none; existing ones are kept. Needs a platform token."""
    return request.post("billing/prices", PricesAdded, {"items": [*items]}, scoped=False)


def preview_correction(correction: Mapping[str, object]) -> Call[PriceCorrectionPreview]:
    """What a correction of a past price would change, and for whom. Needs a platform token."""
    return request.post("billing/price-corrections:preview", PriceCorrectionPreview, {**correction}, scoped=False)


def correct(correction: Mapping[str, object], preview: str) -> Call[PriceCorrection]:
    """Correct a past price as previewed; a worker rates what was used again. Needs a platform token."""
    body = {**correction, "preview": preview}
    return request.post("billing/price-corrections", PriceCorrection, body, scoped=False)


def corrections() -> Call[Page[PriceCorrection]]:
    """Corrections of past prices, the newest first. Needs a platform token."""
    return request.get("billing/price-corrections", Page[PriceCorrection], scoped=False)


def delete(price: Ref) -> Call[None]:
    """Withdraw a price version that has not begun. Needs a platform token."""
    return request.delete(f"billing/prices/{segment(price)}", nothing, scoped=False)
