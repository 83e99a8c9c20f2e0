"""Double entry: what the database keeps and refuses."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest
import sqlalchemy as sa

from ipucloud.billing.invoices.posting import Move, post
from ipucloud.billing.ledger.transfers import Side, balances
from tests.feature.billing.world import BillingWorld, at

pytestmark = pytest.mark.anyio

CASH = Side("cash", None, "EUR")
TRIAL = "SELECT currency, sum(debits) - sum(credits) FROM ledger_accounts GROUP BY currency"


TRANSFER = """
INSERT INTO ledger_transfers (idem, kind, debit_id, credit_id, currency, amount, effective_at)
SELECT 'odd', 'test', debit.id, credit.id, debit.currency, :amount, app_now()
  FROM ledger_accounts debit, ledger_accounts credit WHERE debit.code = 'cash' AND credit.code = 'wallet'
"""


async def move(billing: BillingWorld, idem: str, debit: Side, credit: Side, amount: str) -> bool:
    async with billing.database.begin() as connection:
        await post(connection, [Move(idem, "test", debit, credit, Decimal(amount))])
    return True


def wallet(billing: BillingWorld) -> Side:
    return Side("wallet", billing.project.id, "EUR")


async def test_usage_is_owed_as_it_is_closed(billing: BillingWorld) -> None:
    await billing.price("0.0625")
    await billing.used(await billing.make_cluster(), at("2026-05-05T08:00:00"), quantity=4)
    await billing.keep(at("2026-05-05T10:30:00"))
    transfers = await billing.rows("SELECT idem, kind, amount, effective_at FROM ledger_transfers ORDER BY id")
    account = billing.project.id
    assert [tuple(row) for row in transfers] == [
        (f"usage/2026-05-05T08/0/{account}/EUR", "usage", Decimal(15), at("2026-05-05T08:00:00")),
        (f"usage/2026-05-05T09/0/{account}/EUR", "usage", Decimal(15), at("2026-05-05T09:00:00")),
    ]
    async with billing.database.read() as connection:
        [owed] = await balances(connection, account)
    assert (owed.code, owed.balance) == ("unbilled", Decimal(-30))
    assert [tuple(row) for row in await billing.rows(TRIAL)] == [("EUR", 0)]


async def test_the_same_transfer_moves_money_once(billing: BillingWorld) -> None:
    done = await asyncio.gather(
        *(move(billing, "top-up-1", CASH, wallet(billing), "25.00") for _ in range(5)), return_exceptions=True
    )
    assert [each for each in done if each is True] == [True]
    refused = [each for each in done if each is not True]
    assert all(isinstance(each, sa.exc.IntegrityError) and "idem" in str(each) for each in refused)
    async with billing.database.read() as connection:
        assert [each.balance for each in await balances(connection, billing.project.id)] == [Decimal(25)]


async def test_a_wallet_never_falls_below_nothing_however_many_draw_on_it(billing: BillingWorld) -> None:
    await move(billing, "top-up", CASH, wallet(billing), "10.00")
    receivable = Side("receivable", billing.project.id, "EUR")
    drawn = await asyncio.gather(
        *(move(billing, f"draw-{number}", wallet(billing), receivable, "3.00") for number in range(6)),
        return_exceptions=True,
    )
    assert [each for each in drawn if each is True] == [True] * 3
    refused = [each for each in drawn if each is not True]
    assert all(isinstance(each, sa.exc.IntegrityError) and "floor" in str(each) for each in refused)
    assert [tuple(row) for row in await billing.rows(TRIAL)] == [("EUR", 0)]
    [balance] = await billing.rows("SELECT credits - debits FROM ledger_accounts WHERE code = 'wallet'")
    assert balance[0] == 1


@pytest.mark.parametrize("amount", ["0", "-1"])
async def test_nothing_and_less_cannot_be_moved(billing: BillingWorld, amount: str) -> None:
    await move(billing, "top-up", CASH, wallet(billing), "1")
    with pytest.raises(sa.exc.IntegrityError, match="ck_ledger_transfers_amount"):
        await billing.execute(TRANSFER, amount=Decimal(amount))


async def test_currencies_do_not_mix(billing: BillingWorld) -> None:
    account = billing.project.id
    for code, owner, currency in (("cash", None, "EUR"), ("wallet", account, "USD")):
        await billing.execute(
            "INSERT INTO ledger_accounts (code, owner_id, currency) VALUES (:code, :owner, :currency)",
            code=code,
            owner=owner,
            currency=currency,
        )
    with pytest.raises(sa.exc.IntegrityError, match="fk_ledger_transfers_credit"):
        await billing.execute(TRANSFER, amount=Decimal(1))
