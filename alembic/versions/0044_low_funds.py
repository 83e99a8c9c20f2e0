"""Prepaid accounts have levels at which low funds are reported.

Revision ID: 0044
Revises: 0043
"""

from __future__ import annotations

from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE prepaid_accounts ADD warn_hours INTEGER[] DEFAULT '{72,24,4}' NOT NULL",
    "ALTER TABLE prepaid_accounts ADD low_hours INTEGER",
    "ALTER TABLE prepaid_accounts ADD CONSTRAINT ck_prepaid_accounts_warn_hours"
    " CHECK (1 <= ALL (warn_hours) AND cardinality(warn_hours) <= 5)",
    "ALTER TABLE prepaid_accounts ADD CONSTRAINT ck_prepaid_accounts_low_hours CHECK (low_hours = ANY (warn_hours))",
    "GRANT UPDATE (warn_hours, low_hours) ON prepaid_accounts TO ipucloud_app",
    "COMMENT ON COLUMN prepaid_accounts.warn_hours IS 'funds that last no longer are reported'",
    "COMMENT ON COLUMN prepaid_accounts.low_hours IS 'as last reported: which of them; NULL: none'",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute("ALTER TABLE prepaid_accounts DROP warn_hours, DROP low_hours")
