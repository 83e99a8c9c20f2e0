"""Sellers, tax rates, documents, credits and payments."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from ipucloud.billing.ledger.functions import final
from ipucloud.billing.ledger.tables import MONEY, billing_months
from ipucloud.db.base import instant, json_column, make_with, metadata, one_of, tenant_key
from ipucloud.db.documents import decimal_places

FINAL_TABLES = (
    "promo_credits",
    "invoiced_months",
    "invoices",
    "invoice_lines",
    "invoice_taxes",
    "promo_credit_uses",
    "credit_notes",
    "credit_note_taxes",
    "invoice_settlements",
)
"""Append-only tables."""

PAYMENT_FINAL = (
    """
CREATE FUNCTION refuse_change_of_ended_payment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'payment % has ended and never changes', OLD.id USING ERRCODE = 'integrity_constraint_violation';
END $$
""",
    """
CREATE TRIGGER payments_final BEFORE UPDATE ON payments FOR EACH ROW
WHEN (OLD.finished_at IS NOT NULL) EXECUTE FUNCTION refuse_change_of_ended_payment()
""",
)


INVOICE_SERIES, CREDIT_NOTE_SERIES = "INV", "CN"
_RATE = sa.Numeric(7, 6)
_COUNTRY = "{0} ~ '^[A-Z]{{2}}$'"
_NUMBERED = "number = series || '-' || year || '-' || lpad(sequence::text, greatest(6, length(sequence::text)), '0')"


def _money(name: str, *, comment: str | None = None) -> sa.Column[object]:
    return sa.Column(name, MONEY, nullable=False, comment=comment)


def _account() -> sa.Column[object]:
    return sa.Column("account_id", sa.Uuid, sa.ForeignKey("billing_accounts.id"), nullable=False)


def _of_invoice(*, nullable: bool = False, primary_key: bool = False) -> sa.Column[object]:
    return sa.Column("invoice_id", sa.Uuid, sa.ForeignKey("invoices.id"), nullable=nullable, primary_key=primary_key)


def _number() -> tuple[sa.Column[object], ...]:
    return (
        sa.Column("series", sa.Text, nullable=False),
        sa.Column("year", sa.Integer, nullable=False),
        sa.Column("sequence", sa.Integer, nullable=False),
        sa.Column("number", sa.Text, nullable=False),
    )


sellers = sa.Table(
    "sellers",
    metadata,
    sa.Column("id", sa.Boolean, primary_key=True, server_default=sa.true()),
    sa.Column("legal_name", sa.Text, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("country", sa.Text, nullable=False),
    sa.Column("tax_id", sa.Text),
    sa.Column("bank", sa.Text, comment="where to pay, as it is printed"),
    json_column("e_invoice", default="'{}'", comment="further facts of electronic invoices"),
    sa.Column("version", sa.BigInteger, nullable=False, server_default="1"),
    sa.CheckConstraint("id", name="one"),
    sa.CheckConstraint(_COUNTRY.format("country"), name="country"),
    comment="who issues invoices",
)

tax_rates = sa.Table(
    "tax_rates",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("country", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False, comment="invoices use standard"),
    sa.Column("name", sa.Text, nullable=False, comment="as it is printed"),
    sa.Column("rate", _RATE, nullable=False, comment="0.17 is 17 %"),
    sa.Column("valid_from", sa.Date, nullable=False),
    sa.Column("valid_to", sa.Date, comment="exclusive"),
    sa.Column("source", sa.Text, nullable=False),
    sa.CheckConstraint(_COUNTRY.format("country"), name="country"),
    sa.CheckConstraint("rate BETWEEN 0 AND 1", name="rate"),
    sa.CheckConstraint("valid_to > valid_from", name="valid"),
    pg.ExcludeConstraint(
        (sa.text("textrange(country || ' ' || kind, country || ' ' || kind, '[]')"), "&&"),
        (sa.text("daterange(valid_from, valid_to)"), "&&"),
        name="ex_tax_rates_no_overlap",
        using="gist",
    ),
    comment="versions that never overlap",
)

promo_credits = sa.Table(
    "promo_credits",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    _account(),
    sa.Column("currency", sa.Text, nullable=False),
    _money("amount"),
    sa.Column("reason", sa.Text, nullable=False),
    instant("expires_at", nullable=False),
    instant("created_at", default_now=True),
    sa.CheckConstraint("amount > 0", name="amount"),
    sa.CheckConstraint(f"amount = round(amount, {decimal_places('currency')})", name="payable"),
    comment="append-only; promotional credit as it was granted",
)
sa.Index("ix_promo_credits_account", promo_credits.c.account_id, promo_credits.c.created_at, promo_credits.c.id)
sa.Index("ix_promo_credits_expires", promo_credits.c.expires_at)

invoice_counters = sa.Table(
    "invoice_counters",
    metadata,
    sa.Column("series", sa.Text, primary_key=True),
    sa.Column("year", sa.Integer, primary_key=True),
    sa.Column("last", sa.Integer, nullable=False),
    sa.CheckConstraint("last > 0", name="last"),
    comment="one row to lock while a number is given; a transaction that fails gives it back",
)

invoiced_months = sa.Table(
    "invoiced_months",
    metadata,
    sa.Column("month", sa.Date, sa.ForeignKey("billing_months.month"), primary_key=True),
    instant("issued_at", default_now=True),
    comment="append-only; sealed months of which every invoice was issued",
)

invoices = sa.Table(
    "invoices",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    _account(),
    sa.Column("month", sa.Date, sa.ForeignKey("billing_months.month"), nullable=False, comment="of the charges' bill"),
    sa.Column("currency", sa.Text, nullable=False),
    *_number(),
    instant("issued_at", default_now=True),
    sa.Column("due_on", sa.Date, comment="NULL: a credit note"),
    sa.Column("tax_treatment", sa.Text, nullable=False),
    _money("cost", comment="exact usage: the sum of the lines' cost"),
    _money("subtotal", comment="the sum of the lines' amount"),
    _money("adjustment", comment="what rounding the lines added to the exact usage"),
    _money("promo_applied"),
    _money("taxable", comment="subtotal less promo_applied"),
    _money("tax"),
    _money("total", comment="taxable and tax: the payable amount"),
    _money("wallet_applied", comment="paid from the wallet; below 0: put into it"),
    _money("due", comment="total less wallet_applied: what was left to pay at issue"),
    sa.Column("document", pg.JSON, nullable=False, comment="what it says, to the byte"),
    sa.UniqueConstraint("account_id", "currency", "month", name="uq_invoices_account_month"),
    sa.UniqueConstraint("series", "year", "sequence", name="uq_invoices_sequence"),
    sa.UniqueConstraint("number", name="uq_invoices_number"),
    sa.CheckConstraint(_NUMBERED, name="number"),
    sa.CheckConstraint("sequence > 0", name="sequence"),
    one_of("tax_treatment", ("standard", "reverse_charge", "exempt")),
    sa.CheckConstraint("adjustment = subtotal - cost", name="adjustment"),
    sa.CheckConstraint("promo_applied >= 0 AND taxable = subtotal - promo_applied", name="taxable"),
    sa.CheckConstraint("total = taxable + tax", name="total"),
    sa.CheckConstraint("due >= 0 AND due = total - wallet_applied", name="due"),
    sa.CheckConstraint(
        f"CASE series WHEN '{CREDIT_NOTE_SERIES}' THEN total < 0 AND due_on IS NULL ELSE due_on IS NOT NULL END",
        name="credit_note",
    ),
    comment="append-only; at most one for each account, currency and month: a credit note if its total is below zero",
)
sa.Index("ix_invoices_account", invoices.c.account_id, invoices.c.issued_at, invoices.c.id)
sa.Index("ix_invoices_month", invoices.c.month)
sa.Index("ix_invoices_issued", invoices.c.issued_at)

invoice_lines = sa.Table(
    "invoice_lines",
    metadata,
    _of_invoice(primary_key=True),
    sa.Column("line", sa.Integer, primary_key=True, comment="from 1, as printed"),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("sku", sa.Text, nullable=False),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("price_id", sa.Uuid, nullable=False, comment="of prices or contract_prices"),
    sa.Column("unit_price", sa.Numeric(20, 10), nullable=False, comment="per machine-minute"),
    sa.Column("usage_month", sa.Date, nullable=False, comment="before the invoice's month: a correction of it"),
    sa.Column("minutes", sa.BigInteger, nullable=False, comment="negative: taken back"),
    sa.Column("machine_minutes", sa.BigInteger, nullable=False),
    sa.Column(
        "credited_machine_minutes",
        sa.BigInteger,
        nullable=False,
        server_default="0",
        comment="further ones, of machines that did not work",
    ),
    _money("cost", comment="exact: machine_minutes x unit_price"),
    _money("amount", comment="cost rounded to the currency's decimal places, halves away from zero"),
    sa.Column("tax_rate", _RATE, nullable=False, comment="in force when it was used"),
    sa.Column("since", sa.Date, nullable=False, comment="first day of use: of the month, or of the tax rate in it"),
    sa.Column("until", sa.Date, nullable=False, comment="exclusive"),
    sa.Column("corrects", sa.Uuid, sa.ForeignKey("invoices.id"), comment="what billed the usage before"),
    tenant_key("invoice_lines"),
    sa.CheckConstraint("line > 0", name="line"),
    sa.CheckConstraint("cost = machine_minutes * unit_price", name="cost"),
    sa.CheckConstraint("amount IN (round(cost, 0), round(cost, 2), round(cost, 3))", name="amount"),
    sa.CheckConstraint(
        "usage_month <= since AND since < until AND until <= usage_month + interval '1 month'", name="days"
    ),
    comment="append-only; one for each project, SKU, region, price version, month of usage and tax rate in it",
)
sa.Index("ix_invoice_lines_project", invoice_lines.c.project_id, invoice_lines.c.invoice_id)
sa.Index("ix_invoice_lines_corrects", invoice_lines.c.corrects, postgresql_where=invoice_lines.c.corrects.is_not(None))

invoice_taxes = sa.Table(
    "invoice_taxes",
    metadata,
    _of_invoice(primary_key=True),
    sa.Column("rate", _RATE, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    _money("taxable"),
    _money("tax"),
    sa.CheckConstraint(
        "tax IN (round(taxable * rate, 0), round(taxable * rate, 2), round(taxable * rate, 3))", name="tax"
    ),
    comment="append-only; one for each rate",
)

promo_credit_uses = sa.Table(
    "promo_credit_uses",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("credit_id", sa.Uuid, sa.ForeignKey("promo_credits.id"), nullable=False),
    _of_invoice(nullable=True),
    _money("amount"),
    instant("used_at", default_now=True),
    sa.CheckConstraint("amount > 0", name="amount"),
    comment="append-only; burned by an invoice, or expired when there is none",
)
sa.Index("ix_promo_credit_uses_credit", promo_credit_uses.c.credit_id)
sa.Index("ix_promo_credit_uses_invoice", promo_credit_uses.c.invoice_id)

credit_notes = sa.Table(
    "credit_notes",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    _of_invoice(),
    *_number(),
    instant("issued_at", default_now=True),
    sa.Column("reason", sa.Text, nullable=False),
    _money("net"),
    _money("tax"),
    _money("total"),
    _money("to_wallet", comment="what the invoice no longer asked for, and so went into the wallet"),
    sa.Column("document", pg.JSON, nullable=False, comment="what it says, to the byte"),
    sa.UniqueConstraint("series", "year", "sequence", name="uq_credit_notes_sequence"),
    sa.UniqueConstraint("number", name="uq_credit_notes_number"),
    sa.CheckConstraint(_NUMBERED, name="number"),
    sa.CheckConstraint("sequence > 0", name="sequence"),
    sa.CheckConstraint("net >= 0 AND total > 0 AND total = net + tax", name="total"),
    sa.CheckConstraint("to_wallet BETWEEN 0 AND total", name="to_wallet"),
    comment="append-only",
)
sa.Index("ix_credit_notes_invoice", credit_notes.c.invoice_id)

credit_note_taxes = sa.Table(
    "credit_note_taxes",
    metadata,
    sa.Column("credit_note_id", sa.Uuid, sa.ForeignKey("credit_notes.id"), primary_key=True),
    sa.Column("rate", _RATE, primary_key=True),
    _money("net"),
    _money("tax"),
    comment="append-only; one for each rate of the invoice that is credited",
)

payments = sa.Table(
    "payments",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    _account(),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("direction", sa.Text, nullable=False, comment="in: from the customer; out: a wallet's rest"),
    _money("amount"),
    sa.Column("reference", sa.Text, nullable=False, comment="the same one twice is one payment"),
    _of_invoice(nullable=True),
    sa.Column("state", sa.Text, nullable=False),
    instant("created_at", default_now=True),
    instant("checked_at"),
    instant("finished_at"),
    sa.Column("checks", sa.Integer, nullable=False, server_default="0"),
    sa.Column("to_wallet", MONEY, comment="what went into the wallet, or below 0 out of it; NULL: nothing yet"),
    sa.Column(
        "automatic",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="a top-up that a worker requested by the account's policy",
    ),
    sa.Column("failure", sa.Text, comment="why it failed, if that was said"),
    sa.Column("reverses", sa.Uuid, sa.ForeignKey("payments.id"), comment="the payment that was taken back, or a part"),
    sa.UniqueConstraint("account_id", "reference", name="uq_payments_reference"),
    one_of("direction", ("in", "out")),
    one_of("state", ("pending", "done", "failed")),
    sa.CheckConstraint(f"amount > 0 AND amount = round(amount, {decimal_places('currency')})", name="amount"),
    sa.CheckConstraint("(state = 'pending') = (finished_at IS NULL)", name="finished"),
    sa.CheckConstraint("direction = 'in' OR invoice_id IS NULL", name="refund"),
    sa.CheckConstraint("failure IS NULL OR state = 'failed'", name="failure"),
    sa.CheckConstraint("reverses IS NULL OR direction = 'out' AND state = 'done'", name="reversal"),
    comment="what customers pay and are paid back; it ends once",
)
sa.Index("ix_payments_account", payments.c.account_id, payments.c.created_at, payments.c.id)
sa.Index("ix_payments_invoice", payments.c.invoice_id)
sa.Index("ix_payments_reverses", payments.c.reverses, postgresql_where=payments.c.reverses.is_not(None))
sa.Index("ix_payments_pending", payments.c.checked_at, postgresql_where=payments.c.finished_at.is_(None))
sa.Index(
    "uq_payments_open_top_up",
    payments.c.account_id,
    unique=True,
    postgresql_where=sa.and_(payments.c.automatic, payments.c.finished_at.is_(None)),
)

invoice_settlements = sa.Table(
    "invoice_settlements",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    _of_invoice(),
    sa.Column("payment_id", sa.Uuid, sa.ForeignKey("payments.id")),
    sa.Column("credit_note_id", sa.Uuid, sa.ForeignKey("credit_notes.id")),
    sa.Column("from_wallet", sa.Boolean, nullable=False, server_default=sa.false(), comment="after it was issued"),
    _money("amount"),
    instant("settled_at", default_now=True),
    sa.CheckConstraint("amount > 0", name="amount"),
    sa.CheckConstraint("num_nonnulls(payment_id, credit_note_id) + from_wallet::integer = 1", name="by_one"),
    comment="append-only; what was due and is no longer",
)
sa.Index("ix_invoice_settlements_invoice", invoice_settlements.c.invoice_id)
sa.Index("ix_invoice_settlements_payment", invoice_settlements.c.payment_id)
sa.Index("ix_invoice_settlements_credit_note", invoice_settlements.c.credit_note_id)

for _name in FINAL_TABLES:
    make_with(metadata.tables[_name], *final(_name))
    metadata.tables[_name].add_is_dependent_on(billing_months)  # which the triggers' function is made with
make_with(payments, *PAYMENT_FINAL)
