"""Queries of the price book: current and future list prices, and a project's prices."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from ipucloud.catalogue.queries import Catalogue
from ipucloud.contract.prices import PaidPriceOut, PriceOut
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.money import Money


class BookedPrice(NamedTuple):
    """A version of a price, in [valid_from, valid_to)."""

    sku: str
    region: str
    currency: str
    unit_price: Decimal
    valid_from: datetime
    valid_to: datetime | None
    source: str


class _PaidPrice(NamedTuple):
    price: BookedPrice
    list_unit_price: Decimal
    contract: bool
    account_id: UUID


_CURRENT_AND_FUTURE = Query(
    """
    SELECT sku, region, currency, unit_price, valid_from, valid_to, source FROM prices
     WHERE valid_to IS NULL OR valid_to > app_now()
     ORDER BY sku, region, currency, valid_from
    """,
    BookedPrice,
)
_PAID = Query(
    """
    SELECT article.sku, article.region, article.currency, paid.unit_price, paid.valid_from,
           nullif(paid.valid_to, 'infinity') AS valid_to, coalesce(k.source, p.source) AS source,
           paid.list_unit_price, k.id IS NOT NULL AS contract, paid.account_id
      FROM (SELECT sku, region, currency FROM prices WHERE valid_to IS NULL OR valid_to > app_now()
            UNION SELECT sku, region, currency FROM contract_prices
                   WHERE account_id IN (SELECT account_id FROM project_accounts WHERE project_id = :project_id)
                     AND (valid_to IS NULL OR valid_to > app_now())) AS article
     CROSS JOIN LATERAL prices_paid(:project_id, article.sku, article.region, article.currency) AS paid
      LEFT JOIN prices p ON p.id = paid.price_id
      LEFT JOIN contract_prices k ON k.id = paid.price_id
     WHERE paid.valid_to > app_now()
     ORDER BY article.sku, article.region, article.currency, paid.valid_from
    """,
    _PaidPrice,
)


async def current_and_future(connection: Statements, catalogue: Catalogue) -> Sequence[PriceOut]:
    """Every price in force now or from a later instant on, by SKU, region, currency and time.

    The catalogue has the units that they are for.
    """
    return [
        PriceOut(
            sku=row.sku,
            region=row.region,
            unit=catalogue.unit_of(row.sku),
            unit_price=Money.of(row.unit_price, row.currency),
            valid_from=row.valid_from,
            valid_to=row.valid_to,
            source=row.source,
        )
        for row in await _CURRENT_AND_FUTURE.all(connection)
    ]


async def paid_by(connection: Statements, project_id: UUID, catalogue: Catalogue) -> Sequence[PaidPriceOut]:
    """The project's current and future prices: its account's contract prices, else list prices."""
    return [
        PaidPriceOut(
            sku=price.sku,
            region=price.region,
            unit=catalogue.unit_of(price.sku),
            unit_price=Money.of(price.unit_price, price.currency),
            list_unit_price=Money.of(list_unit_price, price.currency),
            contract=contract,
            account_id=account_id,
            valid_from=price.valid_from,
            valid_to=price.valid_to,
            source=price.source,
        )
        for price, list_unit_price, contract, account_id in await _PAID.all(connection, {"project_id": project_id})
    ]
