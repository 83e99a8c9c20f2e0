"""Prepaid accounts are topped up automatically; an expected payment can fail for a reason.

Revision ID: 0049
Revises: 0048
"""

from __future__ import annotations

from alembic import op

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None

TABLE = """
CREATE TABLE top_up_policies (
    account_id UUID NOT NULL,
    currency TEXT NOT NULL,
    amount NUMERIC(28, 10) NOT NULL,
    below NUMERIC(28, 10),
    below_hours INTEGER,
    month_limit NUMERIC(28, 10) NOT NULL,
    payment_id UUID,
    paused_at TIMESTAMP WITH TIME ZONE,
    pause_reason TEXT,
    version BIGINT DEFAULT '1' NOT NULL,
    CONSTRAINT pk_top_up_policies PRIMARY KEY (account_id),
    CONSTRAINT fk_top_up_policies_account_id FOREIGN KEY(account_id)
        REFERENCES prepaid_accounts (account_id) ON DELETE CASCADE,
    CONSTRAINT fk_top_up_policies_payment_id FOREIGN KEY(payment_id) REFERENCES payments (id),
    CONSTRAINT ck_top_up_policies_amount CHECK (amount > 0 AND month_limit >= amount),
    CONSTRAINT ck_top_up_policies_below CHECK (num_nonnulls(below, below_hours) = 1 AND below > 0 AND below_hours > 0),
    CONSTRAINT ck_top_up_policies_pause_reason CHECK (pause_reason IN ('payment_failed', 'month_limit')),
    CONSTRAINT ck_top_up_policies_paused CHECK (num_nonnulls(paused_at, pause_reason) IN (0, 2)),
    CONSTRAINT ck_top_up_policies_one_at_a_time CHECK (num_nonnulls(paused_at, payment_id) < 2)
)
"""
STATEMENTS = (
    "ALTER TABLE payments ADD automatic BOOLEAN DEFAULT false NOT NULL",
    "ALTER TABLE payments ADD failure TEXT",
    "ALTER TABLE payments ADD CONSTRAINT ck_payments_failure CHECK (failure IS NULL OR state = 'failed')",
    "COMMENT ON COLUMN payments.automatic IS 'a top-up that a worker requested by the account''s policy'",
    "COMMENT ON COLUMN payments.failure IS 'why it failed, if that was said'",
    "CREATE UNIQUE INDEX uq_payments_open_top_up ON payments (account_id) WHERE automatic AND finished_at IS NULL",
    TABLE,
    "COMMENT ON TABLE top_up_policies IS 'when and by how much a prepaid account is topped up'",
    "COMMENT ON COLUMN top_up_policies.below IS 'when so much or less is left'",
    "COMMENT ON COLUMN top_up_policies.below_hours IS 'when what is left lasts no longer'",
    "COMMENT ON COLUMN top_up_policies.month_limit IS 'for the top-ups requested in a UTC month'",
    "COMMENT ON COLUMN top_up_policies.payment_id IS 'the top-up whose end is not reported yet'",
    "CREATE INDEX ix_top_up_policies_payment ON top_up_policies (payment_id)",
    "GRANT SELECT, INSERT, DELETE ON top_up_policies TO ipucloud_app",
    "GRANT UPDATE (amount, below, below_hours, month_limit, payment_id, paused_at, pause_reason, version)"
    " ON top_up_policies TO ipucloud_app",
    "GRANT UPDATE (failure) ON payments TO ipucloud_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE top_up_policies")
    op.execute("ALTER TABLE payments DROP automatic, DROP failure")
