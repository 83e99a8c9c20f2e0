"""Amounts have the decimal places of their currency.

Revision ID: 0036
Revises: 0035
"""

from __future__ import annotations

from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

PLACES = (
    "CASE WHEN currency IN ('BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'VND', 'VUV',"
    " 'XAF', 'XOF', 'XPF') THEN 0 WHEN currency IN ('BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') THEN 3 ELSE 2 END"
)
# Lines and taxes do not have the currency themselves; the audit compares them with their invoice's.
CHECKS = (
    ("promo_credits", "payable", "cents", f"amount = round(amount, {PLACES})", "amount = round(amount, 2)"),
    (
        "payments",
        "amount",
        "amount",
        f"amount > 0 AND amount = round(amount, {PLACES})",
        "amount > 0 AND amount = round(amount, 2)",
    ),
    (
        "invoice_lines",
        "amount",
        "amount",
        "amount IN (round(cost, 0), round(cost, 2), round(cost, 3))",
        "amount = round(cost, 2)",
    ),
    (
        "invoice_taxes",
        "tax",
        "tax",
        "tax IN (round(taxable * rate, 0), round(taxable * rate, 2), round(taxable * rate, 3))",
        "tax = round(taxable * rate, 2)",
    ),
)


def upgrade() -> None:
    for table, name, former, check, _ in CHECKS:
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT ck_{table}_{former}")
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT ck_{table}_{name} CHECK ({check})")
    op.execute(
        "COMMENT ON COLUMN invoice_lines.amount IS 'cost rounded to the currency''s decimal places, halves away from zero'"
    )


def downgrade() -> None:
    op.execute("COMMENT ON COLUMN invoice_lines.amount IS 'cost rounded to cents, halves away from zero'")
    for table, name, former, _, check in CHECKS:
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT ck_{table}_{name}")
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT ck_{table}_{former} CHECK ({check})")
