"""Closed hours, charges, months and the double-entry ledger."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.billing.ledger import functions
from ipucloud.db.base import instant, make_with, metadata, one_of

MONEY = sa.Numeric(28, 10)
CUSTOMER_CODES = ("unbilled", "receivable", "wallet", "promo")
PLATFORM_CODES = ("revenue", "tax", "rounding", "cash")
_WHOLE_HOUR = "date_trunc('hour', {0}, 'UTC') = {0}"
_FIRST_OF_MONTH = "extract(day FROM {0}) = 1"

hour_closes = sa.Table(
    "hour_closes",
    metadata,
    sa.Column("hour", sa.DateTime(timezone=True), primary_key=True),
    instant("begun_at", default_now=True),
    instant("closed_at"),
    sa.Column("charges", sa.BigInteger, comment="rows posted by the close"),
    sa.Column("revision", sa.Integer, nullable=False, server_default="0", comment="corrections made since"),
    instant("verified_at"),
    sa.CheckConstraint(_WHOLE_HOUR.format("hour"), name="whole_hour"),
    sa.CheckConstraint("(closed_at IS NULL) = (charges IS NULL)", name="closed"),
    sa.CheckConstraint("verified_at >= closed_at", name="verified"),
    comment="one row to lock while an hour is closed or corrected",
)

dirty_hours = sa.Table(
    "dirty_hours",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    instant("hour", nullable=False),
    sa.Column("cause", sa.Text, nullable=False),
    instant("noted_at", default_now=True),
    comment="closed hours of which a fact or a price came late",
)
sa.Index("ix_dirty_hours_hour", dirty_hours.c.hour)

unpriced_minutes = sa.Table(
    "unpriced_minutes",
    metadata,
    sa.Column("hour", sa.DateTime(timezone=True), nullable=False),
    sa.Column("account_id", sa.Uuid, nullable=False),
    sa.Column("sku", sa.Text, nullable=False),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("minutes", sa.BigInteger, nullable=False),
    instant("noted_at", default_now=True),
    sa.PrimaryKeyConstraint("hour", "account_id", "sku", "region", "currency"),
    sa.ForeignKeyConstraint(["hour"], ["hour_closes.hour"], name="fk_unpriced_minutes_hour"),
    sa.CheckConstraint("minutes > 0", name="minutes"),
    comment="minutes of closed hours that are not charged because they have no price",
)

billing_months = sa.Table(
    "billing_months",
    metadata,
    sa.Column("month", sa.Date, primary_key=True),
    instant("opened_at", default_now=True),
    instant("sealed_at"),
    instant("late_at"),
    sa.CheckConstraint(_FIRST_OF_MONTH.format("month"), name="first_day"),
    comment="written by open_billing_month and seal_billing_month, but for late_at",
)

usage_charges = sa.Table(
    "usage_charges",
    metadata,
    sa.Column("billing_month", sa.Date, nullable=False, comment="whose bill it is on"),
    instant("hour", nullable=False),
    sa.Column("resource_id", sa.Uuid, nullable=False),
    sa.Column("first_minute", sa.Integer, nullable=False, comment="from the resource's own start"),
    sa.Column("rev", sa.SmallInteger, nullable=False, server_default="0", comment="above 0: a correction"),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("account_id", sa.Uuid, nullable=False),
    sa.Column("interval_id", sa.Uuid, nullable=False),
    sa.Column("price_id", sa.Uuid, nullable=False, comment="of prices or contract_prices"),
    instant("started_at", nullable=False),
    instant("ended_at", nullable=False),
    instant("posted_at", default_now=True),
    sa.Column("minutes", sa.Integer, nullable=False, comment="negative: taken back"),
    sa.Column("quantity", sa.Integer, nullable=False, comment="machines billed"),
    sa.Column("sku", sa.Text, nullable=False),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("unit_price", sa.Numeric(20, 10), nullable=False),
    sa.Column("list_unit_price", sa.Numeric(20, 10), nullable=False),
    sa.Column("cost", MONEY, sa.Computed("minutes * quantity * unit_price", persisted=True)),
    sa.Column("credited", sa.Integer, nullable=False, server_default="0", comment="further machines, not billed"),
    sa.PrimaryKeyConstraint("hour", "resource_id", "first_minute", "rev", "billing_month"),
    sa.CheckConstraint(
        "hour <= started_at AND started_at < ended_at AND ended_at <= hour + interval '1 hour'", name="within_hour"
    ),
    sa.CheckConstraint("CASE rev WHEN 0 THEN minutes > 0 ELSE minutes <> 0 END", name="minutes"),
    sa.CheckConstraint("quantity >= 0 AND credited >= 0 AND quantity + credited > 0", name="quantity"),
    comment="append-only; a partition for each month of the bill",
    postgresql_partition_by="RANGE (billing_month)",
)
sa.Index("ix_usage_charges_account", usage_charges.c.account_id, usage_charges.c.hour)

billed_facts = sa.Table(
    "billed_facts",
    metadata,
    sa.Column("month", sa.Date, sa.ForeignKey("billing_months.month"), nullable=False),
    sa.Column("account_id", sa.Uuid, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("fact", sa.Text, nullable=False),
    sa.PrimaryKeyConstraint("month", "account_id", "currency", "fact"),
    comment="append-only; the usage intervals and prices of a sealed month's charges, as they were then",
)

ledger_accounts = sa.Table(
    "ledger_accounts",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("code", sa.Text, nullable=False),
    sa.Column("owner_id", sa.Uuid, sa.ForeignKey("billing_accounts.id"), comment="NULL: the platform's"),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("debits", MONEY, nullable=False, server_default="0"),
    sa.Column("credits", MONEY, nullable=False, server_default="0"),
    one_of("code", (*CUSTOMER_CODES, *PLATFORM_CODES)),
    sa.CheckConstraint(
        f"(owner_id IS NULL) = (code IN ({', '.join(repr(code) for code in PLATFORM_CODES)}))", name="owner"
    ),
    sa.CheckConstraint("debits >= 0 AND credits >= 0", name="sums"),
    sa.CheckConstraint("code <> 'promo' OR credits >= debits", name="floor"),
    sa.UniqueConstraint("id", "currency", name="uq_ledger_accounts_id_currency"),
    sa.UniqueConstraint(
        "owner_id", "code", "currency", name="uq_ledger_accounts_owner", postgresql_nulls_not_distinct=True
    ),
    comment="balances are kept by the trigger of ledger_transfers",
)

ledger_transfers = sa.Table(
    "ledger_transfers",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("idem", sa.Text, nullable=False, unique=True, comment="never used again"),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("debit_id", sa.BigInteger, nullable=False),
    sa.Column("credit_id", sa.BigInteger, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("amount", MONEY, nullable=False),
    instant("effective_at", nullable=False),
    instant("posted_at", default_now=True),
    sa.Column("adjusts", sa.Text, comment="an adjusting entry: idem of the posting that it corrects or makes up for"),
    sa.Column("reason", sa.Text),
    sa.ForeignKeyConstraint(
        ["debit_id", "currency"], ["ledger_accounts.id", "ledger_accounts.currency"], name="fk_ledger_transfers_debit"
    ),
    sa.ForeignKeyConstraint(
        ["credit_id", "currency"], ["ledger_accounts.id", "ledger_accounts.currency"], name="fk_ledger_transfers_credit"
    ),
    sa.CheckConstraint("amount > 0", name="amount"),
    sa.CheckConstraint("debit_id <> credit_id", name="two_accounts"),
    sa.CheckConstraint("(adjusts IS NULL) = (reason IS NULL)", name="reason"),
    comment="append-only; each row debits one account and credits another",
)
sa.Index("ix_ledger_transfers_debit", ledger_transfers.c.debit_id, ledger_transfers.c.currency)
sa.Index("ix_ledger_transfers_credit", ledger_transfers.c.credit_id, ledger_transfers.c.currency)
sa.Index(
    "ix_ledger_transfers_adjusts",
    ledger_transfers.c.adjusts,
    postgresql_where=ledger_transfers.c.adjusts.is_not(None),
)

for _table in (usage_charges, ledger_transfers, billed_facts):
    _table.add_is_dependent_on(billing_months)  # which the functions that their triggers call are made with

make_with(
    billing_months,
    functions.REFUSE_CHANGE_OF_MONEY,
    functions.OPEN_BILLING_MONTH,
    functions.SEAL_BILLING_MONTH,
    functions.NOTE_DIRTY_HOURS,
)
make_with(usage_charges, *functions.final("usage_charges"))
make_with(billed_facts, *functions.final("billed_facts"))
make_with(
    ledger_transfers,
    *functions.final("ledger_transfers"),
    functions.APPLY_TRANSFERS,
    functions.APPLY_TRANSFERS_TRIGGER,
    functions.RECOUNT_LEDGER_ACCOUNT,
)
