"""Further facts of electronic invoices: of the seller and of billing accounts.

Revision ID: 0130
Revises: 0086
"""

from __future__ import annotations

from alembic import op

revision = "0130"
down_revision = "0086"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE sellers ADD e_invoice JSONB DEFAULT '{}' NOT NULL",
    "COMMENT ON COLUMN sellers.e_invoice IS 'further facts of electronic invoices'",
    "GRANT UPDATE (e_invoice) ON sellers TO ipucloud_app",
    "ALTER TABLE billing_accounts ADD e_invoice JSONB DEFAULT '{}' NOT NULL",
    "COMMENT ON COLUMN billing_accounts.e_invoice IS 'further facts of electronic invoices'",
    "GRANT UPDATE (e_invoice) ON billing_accounts TO ipucloud_app",
)
DOWN = (
    "ALTER TABLE billing_accounts DROP e_invoice",
    "ALTER TABLE sellers DROP e_invoice",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
