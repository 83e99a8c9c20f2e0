"""Preemptible clusters as tests ask for them."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

PREEMPTIBLE = "ipu-m2000-preemptible"
_OFFER = sa.text(
    """
    INSERT INTO prices (id, sku, region, currency, unit_price, valid_from, source)
    SELECT gen_random_uuid(), :sku, 'luxembourg-2', 'EUR', 0.02, '2020-01-01', 'test'
     WHERE NOT EXISTS (SELECT FROM prices WHERE sku = :sku)
    """
)


async def offer_preemptible(connection: AsyncConnection) -> None:
    """Set the price without which the operator offers no preemptible clusters."""
    await connection.execute(_OFFER, {"sku": PREEMPTIBLE})
