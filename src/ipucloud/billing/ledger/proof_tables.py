"""Signed roots of sealed months and of their bills, which the part `proofs` fills."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.billing.ledger.functions import final
from ipucloud.billing.ledger.tables import billing_months
from ipucloud.db.base import instant, make_with, metadata

month_proofs = sa.Table(
    "month_proofs",
    metadata,
    sa.Column("month", sa.Date, sa.ForeignKey("billing_months.month"), primary_key=True),
    sa.Column("root", sa.LargeBinary, nullable=False, comment="of the month's bills"),
    sa.Column("bills", sa.Integer, nullable=False),
    sa.Column("public_key", sa.Text, nullable=False, comment="Ed25519, base64"),
    sa.Column("signature", sa.Text, nullable=False, comment="base64"),
    instant("signed_at", default_now=True),
    sa.CheckConstraint("octet_length(root) = 32 AND bills >= 0", name="root"),
    comment="append-only; what each sealed month was made of, signed",
)
bill_proofs = sa.Table(
    "bill_proofs",
    metadata,
    sa.Column("month", sa.Date, sa.ForeignKey("month_proofs.month"), primary_key=True),
    sa.Column("place", sa.Integer, primary_key=True, comment="among the bills of the month, from 0"),
    sa.Column("account_id", sa.Uuid, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("root", sa.LargeBinary, nullable=False, comment="of its facts and charges"),
    sa.Column("leaves", sa.BigInteger, nullable=False, comment="facts and charges"),
    sa.UniqueConstraint("month", "account_id", "currency", name="uq_bill_proofs_account"),
    sa.CheckConstraint("octet_length(root) = 32 AND leaves > 0 AND place >= 0", name="root"),
    comment="append-only; the leaves of month_proofs",
)

for _table in (month_proofs, bill_proofs):
    _table.add_is_dependent_on(billing_months)
    make_with(_table, *final(_table.name))
