"""Calls for billing accounts, charges, reports and the price book."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from ipucloud.client import call as request
from ipucloud.client.call import Call, given, segment
from ipucloud.client.models import BillingAccount, BookedPrice, Charge, Page, PricesAdded, ProjectAccount, Report


def account() -> Call[ProjectAccount]:
    """The account that pays for the project, with balances."""
    return request.get("billing/account", ProjectAccount)


def create_account(
    name: str,
    currency: str,
    *,
    legal_name: str | None = None,
    address: str | None = None,
    tax_id: str | None = None,
    country: str | None = None,
    tax_exempt: bool | None = None,
    payment_days: int | None = None,
) -> Call[BillingAccount]:
    """Needs a platform token."""
    body = given(
        name=name,
        currency=currency,
        legal_name=legal_name,
        address=address,
        tax_id=tax_id,
        country=country,
        tax_exempt=tax_exempt,
        payment_days=payment_days,
    )
    return request.post("billing/accounts", BillingAccount, body, scoped=False)


def charges(cluster: str | UUID, *, since: datetime | None = None, until: datetime | None = None) -> Call[Page[Charge]]:
    """A cluster's charges in a period, each with usage, price and formula."""
    return request.get(f"clusters/{segment(cluster)}/charges", Page[Charge], {"since": since, "until": until})


def report(
    *, since: datetime | None = None, until: datetime | None = None, group_by: Sequence[str] = ()
) -> Call[Report]:
    """The project's charges, grouped by cluster, project, flavor, region, sku, day, month or `tag:<key>`."""
    return request.get("billing/report", Report, {"since": since, "until": until, "group_by": tuple(group_by)})


def report_csv(
    *, since: datetime | None = None, until: datetime | None = None, group_by: Sequence[str] = ()
) -> Call[bytes]:
    """The report as a CSV file."""
    query = {"since": since, "until": until, "group_by": tuple(group_by), "format": "csv"}
    return request.get("billing/report", bytes, query)


def price_book() -> Call[Page[BookedPrice]]:
    """All price versions. Needs a platform token."""
    return request.get("billing/prices", Page[BookedPrice], scoped=False)


def add_prices(items: Sequence[Mapping[str, object]]) -> Call[PricesAdded]:
    """Add versions, all or none; existing ones are kept. Needs a platform token."""
    return request.post("billing/prices", PricesAdded, {"items": list(items)}, scoped=False)
