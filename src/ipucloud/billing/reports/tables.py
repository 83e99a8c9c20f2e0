"""Daily sums of charges, derived from the charges and replaceable at any time."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.billing.ledger.tables import MONEY
from ipucloud.db.base import instant, metadata

day_rollups = sa.Table(
    "day_rollups",
    metadata,
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("version", sa.Integer, nullable=False, server_default="0", comment="of the rows that hold"),
    sa.Column("hours", sa.Integer, nullable=False, server_default="0", comment="of the day that were closed"),
    sa.Column("revisions", sa.BigInteger, nullable=False, server_default="0", comment="sum of those hours' revisions"),
    sa.Column("clusters", sa.BigInteger, nullable=False, server_default="0", comment="rows"),
    instant("built_at"),
    comment="holds while hours and revisions are what hour_closes has",
)

usage_days = sa.Table(
    "usage_days",
    metadata,
    sa.Column("day", sa.Date, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("account_id", sa.Uuid, nullable=False),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("resource_id", sa.Uuid, nullable=False),
    sa.Column("sku", sa.Text, nullable=False),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("minutes", sa.BigInteger, nullable=False),
    sa.Column("machine_minutes", sa.BigInteger, nullable=False),
    sa.Column("credited_machine_minutes", sa.BigInteger, nullable=False, comment="not among machine_minutes"),
    sa.Column("cost", MONEY, nullable=False),
    sa.Column("list_cost", MONEY, nullable=False),
    sa.Column("flavor", sa.Text, nullable=False, comment="at which it was used"),
    sa.Column("billing_month", sa.Date, nullable=False, comment="whose bill it is on"),
    sa.Column("price_id", sa.Uuid, nullable=False, comment="of prices or contract_prices"),
    sa.Column("unit_price", sa.Numeric(20, 10), nullable=False),
    sa.PrimaryKeyConstraint(
        *("day", "version", "resource_id", "account_id", "flavor", "sku", "region", "currency"),
        *("billing_month", "price_id"),
    ),
    sa.ForeignKeyConstraint(["day"], ["day_rollups.day"], name="fk_usage_days_day"),
    comment="what the charges of a day come to",
)
sa.Index("ix_usage_days_account", usage_days.c.account_id, usage_days.c.day)
