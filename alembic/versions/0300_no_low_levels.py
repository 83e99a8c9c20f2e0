"""A prepaid account may have no levels at which low funds are reported: NULL = ANY ('{}') is false, not NULL.

Revision ID: 0300
Revises: 0290
"""

from __future__ import annotations

from alembic import op

revision = "0300"
down_revision = "0290"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        ALTER TABLE prepaid_accounts DROP CONSTRAINT ck_prepaid_accounts_low_hours,
            ADD CONSTRAINT ck_prepaid_accounts_low_hours CHECK (low_hours IS NULL OR low_hours = ANY (warn_hours))
    """)


def downgrade() -> None:
    op.execute("UPDATE prepaid_accounts SET warn_hours = DEFAULT WHERE warn_hours = '{}'")
    op.execute("""
        ALTER TABLE prepaid_accounts DROP CONSTRAINT ck_prepaid_accounts_low_hours,
            ADD CONSTRAINT ck_prepaid_accounts_low_hours CHECK (low_hours = ANY (warn_hours))
    """)
