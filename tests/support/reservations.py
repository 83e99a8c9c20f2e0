"""Reservations as tests ask for them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

RESERVED = "ipu-m2000-reserved"
_OFFER = sa.text(
    """
    INSERT INTO prices (id, sku, region, currency, unit_price, valid_from, source)
    SELECT gen_random_uuid(), :sku, 'luxembourg-2', 'EUR', 0.05, '2020-01-01', 'test'
     WHERE NOT EXISTS (SELECT FROM prices WHERE sku = :sku)
    """
)


async def offer(connection: AsyncConnection) -> None:
    """Set the price without which the operator offers no reservations."""
    await connection.execute(_OFFER, {"sku": RESERVED})


def reservation_json(name: str = "may", **changes: object) -> dict[str, object]:
    """The body of a reservation of one machine for two hours, in three days."""
    starts = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(days=3)
    usual = {
        "name": name,
        "region": "luxembourg-2",
        "flavor": "m2000-pod4",
        "starts_at": starts.isoformat(),
        "ends_at": (starts + timedelta(hours=2)).isoformat(),
    }
    return usual | changes
