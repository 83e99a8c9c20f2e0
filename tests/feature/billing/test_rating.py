"""Which price a minute takes, who pays for it, and that no session's time zone has a say."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest
import sqlalchemy as sa

from ipucloud.billing.accounts.store import assign, create
from ipucloud.billing.ledger.close import post_hour
from ipucloud.billing.ledger.months import open_months
from ipucloud.billing.pricing.tables import contract_prices
from ipucloud.kernel.ids import new_id
from tests.feature.billing.world import CURRENCY, REGION, SKU, BillingWorld, at

pytestmark = pytest.mark.anyio

ZONES = ["UTC", "Europe/Luxembourg", "America/St_Johns", "Pacific/Apia", "Asia/Kathmandu"]
BY_PRICE = "SELECT unit_price, list_unit_price, sum(minutes) FROM usage_charges GROUP BY 1, 2 ORDER BY min(started_at)"


async def contract(billing: BillingWorld, unit_price: str, valid_from: datetime, valid_to: datetime | None) -> None:
    await billing.insert(
        sa.insert(contract_prices).values(
            id=new_id(),
            account_id=billing.project.id,
            sku=SKU,
            region=REGION,
            currency=CURRENCY,
            unit_price=Decimal(unit_price),
            valid_from=valid_from,
            valid_to=valid_to,
            source="contract",
        )
    )


async def by_price(billing: BillingWorld) -> list[tuple[object, ...]]:
    return [tuple(row) for row in await billing.rows(BY_PRICE)]


async def test_a_contract_goes_before_the_list_while_it_holds(billing: BillingWorld) -> None:
    await billing.price("0.10")
    await contract(billing, "0.04", at("2026-05-05T08:20:00"), at("2026-05-05T09:10:00"))
    await billing.used(await billing.make_cluster(), at("2026-05-05T08:00:00"), at("2026-05-05T09:30:00"))
    await billing.keep(at("2026-05-05T10:30:00"))
    assert await by_price(billing) == [
        (Decimal("0.10"), Decimal("0.10"), 40),
        (Decimal("0.04"), Decimal("0.10"), 50),
    ]


async def test_a_contract_counts_where_the_list_has_nothing(billing: BillingWorld) -> None:
    await billing.price("0.10", at("2026-05-05T08:30:00"))
    await contract(billing, "0.04", at("2026-05-05T08:00:00"), None)
    await billing.used(await billing.make_cluster(), at("2026-05-05T08:00:00"), at("2026-05-05T09:00:00"))
    await billing.keep(at("2026-05-05T10:30:00"))
    assert await by_price(billing) == [
        (Decimal("0.04"), Decimal("0.04"), 30),
        (Decimal("0.04"), Decimal("0.10"), 30),
    ]


async def test_a_project_s_hours_are_paid_by_whom_they_began_under(billing: BillingWorld) -> None:
    await billing.price("0.10")
    await billing.used(await billing.make_cluster(), at("2026-05-05T08:00:00"))
    billing.now(at("2026-05-05T08:30:00"))
    async with billing.database.begin() as connection:
        other = await create(
            connection, name="Other", currency="EUR", legal_name=None, address=None, tax_id=None, payment_days=30
        )
        await assign(connection, billing.project.actor, other, default="EUR")
        await assign(connection, billing.project.actor, other, default="EUR")
    await billing.keep(at("2026-05-05T10:30:00"))
    paid = await billing.rows("SELECT hour, account_id FROM usage_charges ORDER BY hour")
    assert [tuple(row) for row in paid] == [
        (at("2026-05-05T08:00:00"), billing.project.id),
        (at("2026-05-05T09:00:00"), other),
    ]
    owed = await billing.rows("SELECT owner_id, debits FROM ledger_accounts WHERE code = 'unbilled' ORDER BY id")
    assert [tuple(row) for row in owed] == [(billing.project.id, 6), (other, 6)]


@pytest.mark.parametrize(
    "hour", ["2026-03-29T01:00:00", "2026-10-25T00:00:00", "2026-12-31T23:00:00", "2024-02-29T23:00:00"]
)
async def test_no_time_zone_of_a_session_changes_a_charge(billing: BillingWorld, hour: str) -> None:
    await billing.price("0.0625", valid_to=at(hour).replace(minute=40))
    await billing.price("0.0700", at(hour).replace(minute=40))
    await billing.used(await billing.make_cluster(), at(hour).replace(minute=10, second=30), quantity=3)
    billing.now(at("2027-01-02T00:00:00"))
    await open_months(billing.database)
    await billing.execute("INSERT INTO hour_closes (hour) VALUES (:hour)", hour=at(hour))
    charges = set()
    for zone in ZONES:
        async with billing.database.begin() as connection:
            await connection.execute(sa.text("SELECT set_config('TimeZone', :zone, true)"), {"zone": zone})
            assert await post_hour(connection, at(hour)) == 2
            result = await connection.execute(
                sa.text(
                    "SELECT billing_month::text, extract(epoch FROM hour), first_minute, minutes, cost, idem"
                    "  FROM usage_charges, ledger_transfers ORDER BY first_minute"
                )
            )
            charges.add(str(result.all()))
            await connection.rollback()
    assert len(charges) == 1
    assert f"'{hour[:8]}01'" in charges.pop()
