"""Overdue invoices are reminded of, and restrict their accounts.

Revision ID: 0052
Revises: 0051
"""

from __future__ import annotations

from alembic import op

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    CREATE TABLE dunning_policies (
        account_id UUID NOT NULL,
        remind_after INTEGER[] NOT NULL,
        refuse_creates_after INTEGER,
        suspend_after INTEGER,
        restriction TEXT,
        version BIGINT DEFAULT '1' NOT NULL,
        CONSTRAINT pk_dunning_policies PRIMARY KEY (account_id),
        CONSTRAINT fk_dunning_policies_account_id FOREIGN KEY(account_id) REFERENCES billing_accounts (id),
        CONSTRAINT ck_dunning_policies_remind_after CHECK (1 <= ALL (remind_after) AND cardinality(remind_after) <= 5),
        CONSTRAINT ck_dunning_policies_days CHECK (refuse_creates_after > 0 AND suspend_after > 0),
        CONSTRAINT ck_dunning_policies_order CHECK (suspend_after >= refuse_creates_after),
        CONSTRAINT ck_dunning_policies_restriction CHECK (restriction IN ('refuse_creates', 'suspend'))
    )
    """,
    """
    CREATE TABLE dunning_reminders (
        invoice_id UUID NOT NULL,
        days INTEGER NOT NULL,
        sent_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_dunning_reminders PRIMARY KEY (invoice_id, days),
        CONSTRAINT fk_dunning_reminders_invoice_id FOREIGN KEY(invoice_id) REFERENCES invoices (id)
    )
    """,
    "COMMENT ON TABLE dunning_policies IS 'what follows when invoices of an account are overdue'",
    "COMMENT ON COLUMN dunning_policies.remind_after IS 'days after an invoice''s due date'",
    "COMMENT ON COLUMN dunning_policies.refuse_creates_after IS 'days; NULL: never'",
    "COMMENT ON COLUMN dunning_policies.suspend_after IS 'days; NULL: never'",
    "COMMENT ON COLUMN dunning_policies.restriction IS 'as last reported; NULL: none'",
    "COMMENT ON TABLE dunning_reminders IS 'append-only; one for each level of an overdue invoice'",
    "COMMENT ON COLUMN dunning_reminders.days IS 'the level that was reached'",
    "GRANT SELECT, INSERT, DELETE ON dunning_policies TO ipucloud_app",
    "GRANT UPDATE (remind_after, refuse_creates_after, suspend_after, restriction, version)"
    " ON dunning_policies TO ipucloud_app",
    "GRANT SELECT, INSERT ON dunning_reminders TO ipucloud_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE dunning_reminders")
    op.execute("DROP TABLE dunning_policies")
