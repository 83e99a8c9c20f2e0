"""Events of billing accounts, for their payers.

Revision ID: 0053
Revises: 0052
"""

from __future__ import annotations

from alembic import op

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None

STATEMENTS = (
    "ALTER TABLE events DROP CONSTRAINT ck_events_reader, DROP CONSTRAINT ck_events_subject,"
    " ADD COLUMN account_id UUID CONSTRAINT fk_events_account_id REFERENCES billing_accounts (id),"
    " ADD CONSTRAINT ck_events_reader CHECK (num_nonnulls(project_id, account_id) = 1"
    " OR operators AND account_id IS NULL),"
    " ADD CONSTRAINT ck_events_subject"
    " CHECK (project_id IS NULL AND account_id IS NULL OR subject_id IS NOT NULL)",
    "COMMENT ON COLUMN events.project_id IS 'NULL: of an account, or of the platform, for operators only'",
    "COMMENT ON COLUMN events.account_id IS 'whose payers read it; NULL: of a project, or of the platform'",
    "CREATE INDEX ix_events_account ON events (account_id, transaction, id) WHERE account_id IS NOT NULL",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DELETE FROM events WHERE account_id IS NOT NULL")
    op.execute("ALTER TABLE events DROP CONSTRAINT ck_events_reader, DROP CONSTRAINT ck_events_subject")
    op.drop_column("events", "account_id")
    op.execute(
        "ALTER TABLE events ADD CONSTRAINT ck_events_reader CHECK (project_id IS NOT NULL OR operators),"
        " ADD CONSTRAINT ck_events_subject CHECK (project_id IS NULL OR subject_id IS NOT NULL)"
    )
    op.execute("COMMENT ON COLUMN events.project_id IS 'NULL: of the platform, for operators only'")
