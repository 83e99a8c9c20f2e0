"""Queries of the price book: current and future list prices, and a project's prices."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa

from ipucloud.catalogue.queries import Catalogue
from ipucloud.contract.prices import PaidPriceOut, PriceOut
from ipucloud.db.statements import Statements
from ipucloud.kernel.money import Money

_CURRENT_AND_FUTURE = sa.text(
    """
    SELECT sku, region, currency, unit_price, valid_from, valid_to, source FROM prices
     WHERE valid_to IS NULL OR valid_to > app_now()
     ORDER BY sku, region, currency, valid_from
    """
)
_PAID = sa.text(
    """
    SELECT article.sku, article.region, article.currency, paid.unit_price, paid.list_unit_price, paid.valid_from,
           nullif(paid.valid_to, 'infinity') AS valid_to, coalesce(k.source, p.source) AS source,
           k.id IS NOT NULL AS contract, paid.account_id
      FROM (SELECT sku, region, currency FROM prices WHERE valid_to IS NULL OR valid_to > app_now()
            UNION SELECT sku, region, currency FROM contract_prices
                   WHERE account_id IN (SELECT account_id FROM project_accounts WHERE project_id = :project_id)
                     AND (valid_to IS NULL OR valid_to > app_now())) AS article
     CROSS JOIN LATERAL prices_paid(:project_id, article.sku, article.region, article.currency) AS paid
      LEFT JOIN prices p ON p.id = paid.price_id
      LEFT JOIN contract_prices k ON k.id = paid.price_id
     WHERE paid.valid_to > app_now()
     ORDER BY article.sku, article.region, article.currency, paid.valid_from
    """
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
        for row in await connection.execute(_CURRENT_AND_FUTURE)
    ]


async def paid_by(connection: Statements, project_id: UUID, catalogue: Catalogue) -> Sequence[PaidPriceOut]:
    """The project's current and future prices: its account's contract prices, else list prices."""
    return [
        PaidPriceOut(
            sku=row.sku,
            region=row.region,
            unit=catalogue.unit_of(row.sku),
            unit_price=Money.of(row.unit_price, row.currency),
            list_unit_price=Money.of(row.list_unit_price, row.currency),
            contract=row.contract,
            account_id=row.account_id,
            valid_from=row.valid_from,
            valid_to=row.valid_to,
            source=row.source,
        )
        for row in await connection.execute(_PAID, {"project_id": project_id})
    ]
