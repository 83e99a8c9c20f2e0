"""Random months of an account in any currency: corrections, tax rates, payments, credit notes, against a count."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Any

import psycopg
from hypothesis import given, settings
from hypothesis import strategies as st

from ipucloud.billing.exports.selection import snapshot
from ipucloud.billing.invoices.credit_notes import issue_credit_note
from ipucloud.billing.invoices.issue import issue_in
from ipucloud.billing.invoices.lines import Bill
from ipucloud.billing.ledger.transfers import Posted, post_usage
from ipucloud.contract.exports import Dataset, FocusVersion
from ipucloud.invariants import billing_invoices
from ipucloud.kernel.ids import new_id
from tests.feature.billing.exports.defects import find_defects
from tests.feature.billing.exports.ledgers import csv_of, rows_of, selection
from tests.feature.billing.invoices.customers import assert_billing_sound, documents, paid, transact
from tests.feature.billing.timelines import ONE_DATABASE
from tests.feature.billing.world import BillingWorld, at, in_billing_world
from tests.support.postgres import Database as Scratch

MONTHS = [date(2026, 1, 1), date(2026, 2, 1), date(2026, 3, 1), date(2026, 4, 1)]
PLACES = {"JPY": 0, "EUR": 2, "KWD": 3}
PRICES = {"JPY": Decimal("1.2345"), "EUR": Decimal("0.0625"), "KWD": Decimal("0.01234")}
FIRST = at("2026-01-01T00:00:00")
CHARGE = """
INSERT INTO usage_charges (billing_month, hour, resource_id, first_minute, rev, project_id, account_id, interval_id,
                           price_id, started_at, ended_at, minutes, quantity, sku, region, currency, unit_price,
                           list_unit_price)
VALUES (:bill, :hour, :cluster, 0, :rev, :project, :project, :cluster, :cluster, :hour, :hour + interval '1 hour',
        :minutes, :quantity, 'ipu-m2000', 'luxembourg-2', :currency, :price, :price)
"""


@dataclass(frozen=True, slots=True)
class Use:
    """An hour of so many machines on a day; in the bill that comes `late` months later all or a part is taken back."""

    month: int
    day: int
    quantity: int
    back: int
    late: int


@dataclass(frozen=True, slots=True)
class World:
    """`rates` hold from their day on; after each bill `payments` is paid, and `credited` percent of it credited."""

    currency: str
    uses: list[Use]
    rates: dict[date, Decimal]
    payments: list[int]
    credited: list[int]

    @property
    def price(self) -> Decimal:
        return PRICES[self.currency]

    def rounded(self, amount: Decimal) -> Decimal:
        return amount.quantize(Decimal(1).scaleb(-PLACES[self.currency]), ROUND_HALF_UP)


USES = st.builds(
    Use,
    month=st.integers(0, 2),
    day=st.integers(1, 28),
    quantity=st.integers(1, 64),
    back=st.sampled_from([0, 0, 30, 60]),
    late=st.integers(1, 2),
)
RATES = st.dictionaries(
    st.dates(date(2026, 1, 2), date(2026, 3, 31)),
    st.sampled_from([Decimal("0.16"), Decimal("0.17"), Decimal("0.03")]),
    max_size=3,
)
WORLDS = st.builds(
    World,
    currency=st.sampled_from(sorted(PLACES)),
    uses=st.lists(USES, min_size=1, max_size=8),
    rates=RATES,
    payments=st.lists(st.integers(0, 60), min_size=4, max_size=4),
    credited=st.lists(st.sampled_from([0, 0, 40, 100]), min_size=4, max_size=4),
)


def rate_of(world: World, day: date) -> tuple[date, Decimal]:
    """The rate of a day, and since when it has been in force without a break."""
    begun, rate = date(2020, 1, 1), Decimal("0.21")
    for first in sorted(world.rates):
        if first <= day and world.rates[first] != rate:
            begun, rate = first, world.rates[first]
    return begun, rate


def expected(world: World, bill: int) -> tuple[dict[Decimal, tuple[Decimal, Decimal]], Decimal]:
    """Net and tax of each rate, and the total of a bill: counted use by use."""
    lines: dict[tuple[int, int, date, Decimal], Decimal] = defaultdict(Decimal)
    for place, use in enumerate(world.uses):
        begun, rate = rate_of(world, MONTHS[use.month].replace(day=use.day))
        key = (place, use.month, begun, rate)  # each use has a price of its own, and so a line
        if use.month == bill:
            lines[key] += 60 * use.quantity * world.price
        if use.back and min(use.month + use.late, 3) == bill:
            lines[key] -= use.back * use.quantity * world.price
    nets: dict[Decimal, Decimal] = defaultdict(Decimal)
    for (_, _, _, rate), cost in lines.items():
        nets[rate] += world.rounded(cost)
    taxes = {rate: (net, world.rounded(net * rate)) for rate, net in nets.items()}
    return taxes, sum((net + tax for net, tax in taxes.values()), Decimal(0))


async def used(billing: BillingWorld, world: World) -> None:
    statements: list[tuple[dict[str, object], Decimal]] = []
    for use in world.uses:
        cluster = await billing.make_cluster()
        hour = datetime.combine(MONTHS[use.month].replace(day=use.day), at("2026-01-01T10:00:00").timetz())
        values = {"cluster": cluster, "project": billing.project.id, "hour": hour, "quantity": use.quantity}
        values |= {"currency": world.currency, "price": world.price}
        cost = use.quantity * world.price
        statements.append((values | {"bill": MONTHS[use.month], "rev": 0, "minutes": 60}, 60 * cost))
        if use.back:
            bill = MONTHS[min(use.month + use.late, 3)]
            statements.append((values | {"bill": bill, "rev": 1, "minutes": -use.back}, -use.back * cost))
    for revision, (charge, amount) in enumerate(statements):
        await billing.execute(CHARGE, **charge)
        sums = [Posted(billing.project.id, world.currency, amount, 1)]
        await transact(billing, partial(post_usage, hour=FIRST, revision=revision, sums=sums))


async def rated(billing: BillingWorld, world: World) -> None:
    """The tax rates of the world, and its months, open."""
    for month in MONTHS:
        await billing.execute("SELECT open_billing_month(:month)", month=month)
    bounds = [date(2020, 1, 1), *sorted(world.rates)]
    for since, until in zip(bounds, [*bounds[1:], None], strict=True):
        await billing.execute(
            "INSERT INTO tax_rates (id, country, kind, name, rate, valid_from, valid_to, source)"
            " VALUES (:id, 'LU', 'standard', 'VAT', :rate, :since, :until, 'test')",
            id=new_id(),
            rate=world.rates.get(since, Decimal("0.21")),
            since=since,
            until=until,
        )


async def lived(billing: BillingWorld, world: World) -> None:
    """The account's bills in order, each with what is paid and credited after it."""
    for place, month in enumerate(MONTHS):
        billing.now(at(f"{(month + timedelta(days=31)).replace(day=2)}T00:00:00"))
        number = await transact(billing, partial(issue_in, bill=Bill(billing.project.id, world.currency, month)))
        issued = await documents(billing)
        check(world, place, number, issued)
        [net] = [Decimal(each["taxable"]["amount"]) for each in issued if each["number"] == number] or [Decimal(0)]
        if number is not None and number.startswith("INV") and net > 0 and world.credited[place]:
            part = None if world.credited[place] == 100 else world.rounded(net * world.credited[place] / 100) or None
            await transact(billing, partial(issue_credit_note, invoice=number, net=part, reason="x"))
        if world.payments[place]:
            await paid(billing, str(world.payments[place]), f"payment {place}", currency=world.currency)
        await assert_billing_sound(billing, billing_invoices.RULES)


def check(world: World, place: int, number: str | None, issued: list[dict[str, Any]]) -> None:
    """A bill is what was counted: an invoice, or below zero a credit note that names what it corrects."""
    taxes, total = expected(world, place)
    if number is None:
        assert not any(net for net, _ in taxes.values())
        return
    [document] = [each for each in issued if each["number"] == number]
    sign = -1 if total < 0 else 1
    assert document["kind"] == ("credit_note" if total < 0 else "invoice")
    assert Decimal(document["total"]["amount"]) == sign * total
    shown = {
        Decimal(each["rate"]): (Decimal(each["taxable"]["amount"]), Decimal(each["tax"]["amount"]))
        for each in document["taxes"]
    }
    assert shown == {rate: (sign * net, sign * tax) for rate, (net, tax) in taxes.items()}
    by_month = {each["period"]["since"][:7]: each["number"] for each in reversed(issued) if each.get("lines")}
    for line in document["lines"]:
        corrects = by_month[line["usage_month"]] if line["correction"] else None
        assert line["corrects"] == corrects
    if sign < 0:
        named = {line["corrects"] for line in document["lines"] if Decimal(line["cost"]["amount"]) > 0}
        assert {each["number"] for each in document["corrects"]} == named - {None}
        assert document["invoice"] == document["corrects"][0]["number"]
        assert "due_on" not in document


def joined(scratch: Scratch, billing: BillingWorld) -> None:
    """Every row of an export has a detail of its document, and every detail is the exact sum of its rows."""
    for month in MONTHS:
        files = {
            dataset: csv_of(scratch.app_url, selection(account=billing.project.id, month=month, dataset=dataset))
            for dataset in (Dataset.COST_AND_USAGE, Dataset.INVOICE_DETAIL)
        }
        rows, details = map(rows_of, files.values())
        sums: dict[str, Decimal] = defaultdict(Decimal)
        for row in rows:
            sums[row["InvoiceDetailId"]] += Decimal(row["BilledCost"])
        sums.pop("", None)
        assert sums == {row["InvoiceDetailId"]: Decimal(row["BilledCost"]) for row in details}
        with snapshot(scratch.app_url) as connection:
            defects = find_defects(connection, [files[Dataset.COST_AND_USAGE]], FocusVersion.V1_4, whole_invoices=True)
        # Charges are made up: their hours overlap nothing, but several are taken back in one month.
        assert {each.check for each in defects} <= {"correction_is_of_a_month_before", "period_holds_the_minutes"}


async def example(billing: BillingWorld, scratch: Scratch, world: World) -> None:
    await rated(billing, world)
    await used(billing, world)
    await lived(billing, world)
    joined(scratch, billing)


def forget(scratch: Scratch) -> None:
    """Take away every document and posting, as nobody but the owner can, with the guards off."""
    with psycopg.connect(scratch.superuser_url) as connection:
        connection.execute("SET session_replication_role = replica")
        for table in ("invoices", "usage_charges", "ledger_accounts", "tax_rates", "invoice_counters", "payments"):
            connection.execute(f"TRUNCATE {table} CASCADE".encode())


@settings(ONE_DATABASE, max_examples=12)
@given(world=WORLDS)
def test_months_are_what_was_counted_and_the_wallet_pays_what_is_open(database: Scratch, world: World) -> None:
    forget(database)
    asyncio.run(in_billing_world(database, partial(example, scratch=database, world=world)))
