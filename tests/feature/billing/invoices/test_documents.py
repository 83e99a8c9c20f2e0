"""What an invoice holds: an immutable copy; corrections, reverse charge, credits, wallets; and property checks."""

from __future__ import annotations

import asyncio
from datetime import date
from decimal import Decimal

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg.errors import InsufficientPrivilege, IntegrityConstraintViolation
from sqlalchemy.exc import IntegrityError

from ipucloud.billing.invoices.calculation import compute
from ipucloud.billing.invoices.credit_notes import issue_credit_note
from ipucloud.billing.invoices.credits import Usable, burn
from ipucloud.billing.invoices.document import issued_document
from ipucloud.billing.invoices.issue import issue_in
from ipucloud.billing.invoices.lines import Bill
from ipucloud.billing.invoices.payer import platform, read_payer
from ipucloud.billing.invoices.payment_port import Collected, PendingPayment
from ipucloud.billing.invoices.payments import collect_payments, expect_payment, record_refund
from ipucloud.billing.invoices.posting import Move, post
from ipucloud.billing.ledger.transfers import Side
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.ids import new_id
from tests.feature.billing.invoices.customers import (
    SEALED,
    a_minute,
    assert_billing_sound,
    balances,
    documents,
    euros,
    figures,
    granted,
    paid,
    taxed,
    transact,
)
from tests.feature.billing.world import BillingWorld, at
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

CHANGES = (
    "UPDATE invoices SET due = 0",
    "DELETE FROM invoice_lines",
    "UPDATE invoice_taxes SET tax = 0",
    "TRUNCATE invoice_settlements",
)


async def test_corrections_below_zero_are_a_credit_note_that_pays_open_invoices(billing: BillingWorld) -> None:
    """So much of April is taken back in May that May owes the customer 8.05: April's 8.78 are still open."""
    await taxed(billing)
    await billing.price("0.0625")
    interval = await billing.used(await billing.make_cluster(), at("2026-04-30T22:00:00"))
    await billing.keep(SEALED)
    assert [figures(each)["total"] for each in await documents(billing)] == ["8.78"]
    await billing.execute("UPDATE usage_intervals SET ended_at = '2026-04-30T22:10:00Z' WHERE id = :id", id=interval)
    await billing.keep(at("2026-05-02T00:02:00"))
    bill = Bill(billing.project.id, "EUR", date(2026, 5, 1))
    await transact(billing, lambda connection: issue_in(connection, bill))
    note, _ = await documents(billing)
    assert (note["kind"], note["number"], note["invoice"]) == ("credit_note", "CN-2026-000001", "INV-2026-000001")
    assert note["corrects"] == [{"number": "INV-2026-000001", "issued_on": "2026-05-02"}]
    assert "due_on" not in note
    line, of_may = note["lines"]
    assert (of_may["usage_month"], of_may["minutes"], of_may["amount"]["amount"]) == ("2026-05", 0, "0.00")
    assert (line["usage_month"], line["correction"], line["minutes"]) == ("2026-04", True, 110)
    assert line["corrects"] == "INV-2026-000001"
    assert (figures(note)["net"], figures(note)["total"], figures(note)["to_wallet"]) == ("6.88", "8.05", "8.05")
    assert note["settled"] == [{"number": "INV-2026-000001", "amount": {"amount": "8.05", "currency": "EUR"}}]
    assert (await balances(billing))["receivable"] == "-0.73"
    assert not {"unbilled", "wallet"} & set(await balances(billing))
    with pytest.raises(Problem, match="CN-2026-000001 is a credit note"):
        await transact(billing, lambda connection: issue_credit_note(connection, note["number"], net=None, reason="x"))
    events = await billing.rows("SELECT type, data FROM events WHERE type IN ('invoice.issued', 'credit_note.issued')")
    assert {row.type: row.data for row in events} == {
        "invoice.issued": {"number": "INV-2026-000001"},
        "credit_note.issued": {"number": "CN-2026-000001", "corrects": ["INV-2026-000001"]},
    }
    await paid(billing, "1.00", "too much", "INV-2026-000001")
    assert (await balances(billing))["wallet"] == "0.27"
    await assert_billing_sound(billing)


async def test_credit_notes_in_parts_have_the_tax_of_the_whole(billing: BillingWorld) -> None:
    """17 % of 0.03 is half a cent, and of 0.36 six."""
    await taxed(billing)
    await a_minute(billing, "10.00")
    await billing.keep(SEALED)
    taxes = "SELECT sum(tax) FROM credit_notes"
    for parts in range(1, 13):
        await transact(
            billing,
            lambda connection: issue_credit_note(connection, "INV-2026-000001", net=Decimal("0.03"), reason="a part"),
        )
        [summed] = await billing.rows(taxes)
        assert abs(summed[0] - parts * Decimal("0.03") * Decimal("0.17")) < Decimal("0.01")
    assert summed[0] == Decimal("0.06")
    await transact(
        billing, lambda connection: issue_credit_note(connection, "INV-2026-000001", net=None, reason="rest")
    )
    [summed] = await billing.rows(taxes)
    assert summed[0] == Decimal("1.70")
    await assert_billing_sound(billing)


async def test_each_line_says_whose_price_it_has_and_how_long_it_is_valid(billing: BillingWorld) -> None:
    """A list price, then a contract price for a quarter of an hour, then the list price again."""
    await taxed(billing)
    await billing.price("0.0625", at("2026-01-01T00:00:00"))
    since, until = "2026-04-30T22:15:00", "2026-04-30T22:30:00"
    await billing.price("0.05", at(since), at(until), account=billing.project.id)
    await billing.used(await billing.make_cluster(), at("2026-04-30T22:00:00"), at("2026-04-30T23:00:00"))
    await billing.keep(SEALED)
    [document] = await documents(billing)
    terms = {
        each["unit_price"]["amount"]: (each["contract"], each["price_since"], each["price_until"], each["minutes"])
        for each in document["lines"]
    }
    assert terms == {
        "0.05": (True, f"{since}Z", f"{until}Z", 15),
        "0.0625": (False, "2026-01-01T00:00:00Z", None, 45),
    }


async def test_an_invoice_stays_what_it_was_and_nobody_can_change_it(billing: BillingWorld, database: Scratch) -> None:
    await taxed(billing)
    await a_minute(billing, "1.00")
    await billing.keep(SEALED)
    before = await documents(billing)
    await billing.execute("UPDATE billing_accounts SET legal_name = 'Another', tax_exempt = true")
    await billing.execute("UPDATE sellers SET legal_name = 'Another'")
    await billing.keep()
    assert await documents(billing) == before
    for url, refusal in ((database.app_url, InsufficientPrivilege), (database.owner_url, IntegrityConstraintViolation)):
        for change in CHANGES:
            with psycopg.connect(url) as connection, pytest.raises(refusal):
                connection.execute(change.encode())


@pytest.mark.parametrize(
    ("customer", "expected"),
    [
        ((None, None, False), ("standard", "1.70")),
        (("DE", None, False), ("standard", "1.90")),
        (("DE", "DE 123 456 789", False), ("reverse_charge", "0.00")),
        (("DE", "LU12345678", False), ("standard", "1.90")),
        (("LU", "LU12345678", False), ("standard", "1.70")),
        (("LU", None, True), ("exempt", "0.00")),
    ],
)
async def test_tax_follows_the_customer(
    billing: BillingWorld, customer: tuple[str | None, str | None, bool], expected: tuple[str, str]
) -> None:
    country, tax_id, exempt = customer
    await taxed(billing)
    await taxed(billing, "0.19", "DE")
    await billing.execute(
        "UPDATE billing_accounts SET country = :country, tax_id = :tax_id, tax_exempt = :exempt",
        country=country,
        tax_id=tax_id,
        exempt=exempt,
    )
    await a_minute(billing, "10.00")
    await billing.keep(SEALED)
    [invoice] = await documents(billing)
    assert (invoice["tax_treatment"], figures(invoice)["tax"]) == expected
    assert len(invoice["notes"]) == (expected[0] != "standard")


async def test_usage_is_taxed_at_the_rate_of_its_day_whenever_it_is_billed(billing: BillingWorld) -> None:
    """April's invoice is issued in May, whose rate is another one, and the correction of it on May's invoice too."""
    billing.now(at("2026-04-20T00:00:00"))
    await taxed(billing, "0.16")
    await taxed(billing, "0.17", since=date(2026, 5, 1))
    await a_minute(billing, "10")
    await billing.keep(SEALED)
    late = await billing.make_cluster()
    await billing.used(late, at("2026-04-30T22:00:00"), at("2026-04-30T22:01:00"))
    await billing.used(late, at("2026-05-10T22:00:00"), at("2026-05-10T22:01:00"))
    await billing.keep(at("2026-06-02T00:00:00"))
    while len(issued := await documents(billing)) < 2:
        await billing.keep()  # so many hours at once
    assert [[(each["rate"], each["tax"]["amount"]) for each in document["taxes"]] for document in issued] == [
        [("0.16", "1.60")],
        [("0.17", "1.70"), ("0.16", "1.60")],
    ]


async def test_without_a_tax_rate_an_invoice_waits(billing: BillingWorld) -> None:
    await a_minute(billing, "10.00")
    await billing.keep(SEALED)
    assert await documents(billing) == []
    await taxed(billing)
    await billing.keep()
    assert len(await documents(billing)) == 1


async def test_a_wallet_is_never_overdrawn_by_many_at_once(billing: BillingWorld) -> None:
    """Ten refunds of 3.00 out of 10.00: three are done, and the ledger refuses what the code would let through."""
    await paid(billing, "10.00", "first")

    async def refund(number: int) -> bool:
        try:
            await transact(
                billing,
                lambda connection: record_refund(
                    connection, billing.project.id, euros("3.00"), reference=f"back {number}"
                ),
            )
        except Problem:
            return False
        return True

    done = await asyncio.gather(*(refund(number) for number in range(10)))
    assert sum(done) == 3
    assert (await balances(billing))["wallet"] == "1.00"
    over = Move("x", "x", Side("wallet", billing.project.id, "EUR"), platform("cash", "EUR"), Decimal("1.01"))
    with pytest.raises(IntegrityError, match="a wallet would be overdrawn"):
        await transact(billing, lambda connection: post(connection, [over]))
    await assert_billing_sound(billing)


class Provider:
    """A payment provider that answers as the test says; None: not at all."""

    def __init__(self, *answers: Collected | None) -> None:
        self.answers, self.references = list(answers), [""]

    async def collect(self, payment: PendingPayment) -> Collected:
        self.references.append(payment.reference)
        answer = self.answers.pop(0)
        if answer is None:
            await asyncio.Event().wait()
        return answer or Collected.UNKNOWN


async def test_a_payment_that_is_unknown_is_asked_about_until_it_ends(billing: BillingWorld) -> None:
    billing.now(SEALED)
    first = await transact(billing, lambda connection: expect_payment(connection, billing.project.id, euros("5.00")))
    await transact(billing, lambda connection: expect_payment(connection, billing.project.id, euros("7.00")))
    provider = Provider(None, Collected.UNKNOWN, Collected.DONE, Collected.FAILED)
    assert await collect_payments(billing.database, provider, patience=0.01) == 0
    assert await collect_payments(billing.database, provider, patience=60) == 0
    assert len(provider.references) == 3
    billing.now(at("2026-05-02T00:10:00"))
    assert await collect_payments(billing.database, provider, patience=60) == 2
    assert await collect_payments(billing.database, provider, patience=60) == 0
    rows = await billing.rows("SELECT id, state FROM payments ORDER BY state")
    assert [row.state for row in rows] == ["done", "failed"]
    assert (await balances(billing))["wallet"] == ("5.00" if rows[0].id == first else "7.00")
    await assert_billing_sound(billing)


async def test_a_number_that_was_taken_in_vain_is_given_again(billing: BillingWorld) -> None:
    await taxed(billing)
    await a_minute(billing, "1.00")
    billing.now(SEALED)
    await billing.keep(at("2026-05-01T23:00:00"))
    bill = Bill(billing.project.id, "EUR", date(2026, 4, 1))

    async def in_vain() -> None:
        async with billing.database.begin() as connection:
            assert await issue_in(connection, bill) == "INV-2026-000001"
            raise InterruptedError

    with pytest.raises(InterruptedError):
        await in_vain()
    async with billing.database.read() as connection:
        draft = await compute(connection, bill, await read_payer(connection, billing.project.id))
    assert issued_document(draft, None).kind == "draft"
    await billing.keep(SEALED)
    assert [each["number"] for each in await documents(billing)] == ["INV-2026-000001"]


async def test_credit_pays_for_what_was_used_before_it_expired(billing: BillingWorld) -> None:
    """Two hours at 3.75; a credit ends after one of them: it pays 3.75, the later one the rest of what it has."""
    await taxed(billing)
    await billing.price("0.0625")
    await granted(billing, "5.00", at("2026-04-30T23:00:00"))
    await granted(billing, "1.00")
    await billing.used(await billing.make_cluster(), at("2026-04-30T22:00:00"), at("2026-05-01T00:00:00"))
    await billing.keep(SEALED)
    [invoice] = await documents(billing)
    assert (figures(invoice)["subtotal"], figures(invoice)["promo_applied"]) == ("7.50", "4.75")
    uses = await billing.rows("SELECT amount, invoice_id IS NULL AS expired FROM promo_credit_uses ORDER BY id")
    assert [(str(row.amount), row.expired) for row in uses] == [
        ("3.7500000000", False),
        ("1.0000000000", False),
        ("1.2500000000", True),
    ]
    assert "promo" not in await balances(billing)
    await assert_billing_sound(billing)


_CENTS = st.integers(0, 2000).map(lambda cents: Decimal(cents) / 100)


@settings(max_examples=200)
@given(credits_held=st.lists(st.tuples(_CENTS, st.none() | _CENTS), max_size=6), subtotal=_CENTS)
def test_credit_is_burned_in_order_and_never_beyond_its_bounds(
    credits_held: list[tuple[Decimal, Decimal | None]], subtotal: Decimal
) -> None:
    held = [Usable(new_id(), rest, before) for rest, before in credits_held if rest]
    burned = burn(held, subtotal, 2)
    assert sum(each.amount for each in burned) <= subtotal
    rest = {each.id: each.rest for each in held}
    assert all(0 < each.amount <= rest[each.credit_id] for each in burned)
    order = [each.id for each in held]
    assert [each.credit_id for each in burned] == [each for each in order if each in {one.credit_id for one in burned}]
    used = Decimal(0)
    amounts = {each.credit_id: each.amount for each in burned}
    for each in held:
        used += amounts.get(each.id, Decimal(0))
        assert each.id not in amounts or each.used_before is None or used <= each.used_before
    if held and all(each.used_before is None for each in held):
        assert sum(amounts.values()) == min(subtotal, sum(each.rest for each in held))
