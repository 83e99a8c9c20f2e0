"""Reserved minutes in the ledger: all of them, once, however late a worker is, and whoever uses the machines."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from uuid import UUID

import pytest
import sqlalchemy as sa

from ipucloud.clusters.reservations.follow import follow_reservations
from ipucloud.inventory.reservation_tables import reservations
from ipucloud.kernel.ids import new_id
from tests.feature.billing.books import REGION, Books, at
from tests.support.factories import make_price
from tests.support.reservations import RESERVED

pytestmark = pytest.mark.anyio

STARTS, ENDS = at("2026-03-31T22:00:00"), at("2026-04-01T01:00:00")


@pytest.fixture(autouse=True)
def nothing_held(books: Books) -> None:
    """These books have no hardware."""
    books.broken_on_purpose.add("reservation_is_held")


async def reserved(books: Books, starts: datetime = STARTS, ends: datetime = ENDS) -> UUID:
    made = new_id()
    await books.insert(
        sa.insert(reservations).values(
            id=made,
            project_id=books.project.id,
            name="may",
            region=REGION,
            flavor="m2000-pod16",
            machine_type="m2000",
            blocks=2,
            machines=4,
            ipus=16,
            servers=1,
            own_hosts=False,
            sku=RESERVED,
            currency="EUR",
            starts_at=starts,
            ends_at=ends,
            created_by=new_id(),
        )
    )
    async with books.database.begin() as connection:
        await make_price(connection, RESERVED, REGION, Decimal("0.05"), valid_to=at("2026-04-01T00:00:00"))
        await make_price(connection, RESERVED, REGION, Decimal("0.06"), valid_from=at("2026-04-01T00:00:00"))
    return made


BY_MONTH = """
SELECT billing_month::text, sku, sum(minutes)::integer, sum(cost) FROM usage_charges
 GROUP BY 1, 2 ORDER BY 1, 2
"""
EXPECTED = [
    ("2026-03-01", RESERVED, 120, Decimal("0.05") * 120 * 8),
    ("2026-04-01", RESERVED, 60, Decimal("0.06") * 60 * 8),
]


async def test_every_reserved_minute_is_charged_over_a_month_and_a_price(books: Books) -> None:
    books.now(at("2026-03-31T21:00:00"))
    await reserved(books)
    for instant in ("2026-03-31T22:00:03", "2026-04-01T01:00:04"):
        books.now(at(instant))
        await follow_reservations(books.database)
    await books.keep(at("2026-04-01T03:00:00"))
    assert [tuple(row) for row in await books.rows(BY_MONTH)] == EXPECTED


async def test_a_worker_that_comes_late_changes_nothing_of_the_bill(books: Books) -> None:
    books.now(at("2026-03-31T21:00:00"))
    await reserved(books)
    await books.keep(at("2026-04-01T02:00:00"))  # closes the hours without it
    await follow_reservations(books.database)  # begins it four hours late
    await follow_reservations(books.database)  # and ends it
    await books.keep(at("2026-04-01T03:00:00"))
    assert [tuple(row) for row in await books.rows(BY_MONTH)] == EXPECTED
