"""Reservations as tests ask for them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

from tests.support.factories import offer as offer_sku

RESERVED = "ipu-m2000-reserved"
offer = partial(offer_sku, sku=RESERVED, unit_price="0.05")


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
