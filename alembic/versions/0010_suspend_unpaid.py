"""Clusters that a budget or an empty account suspends.

Revision ID: 0010
Revises: 0009
"""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE budget_thresholds DROP CONSTRAINT ck_budget_thresholds_action",
    "ALTER TABLE budget_thresholds ADD CONSTRAINT ck_budget_thresholds_action"
    " CHECK (action IN ('refuse_creates', 'suspend'))",
    "ALTER TABLE prepaid_accounts DROP CONSTRAINT ck_prepaid_accounts_when_empty",
    "ALTER TABLE prepaid_accounts ADD CONSTRAINT ck_prepaid_accounts_when_empty"
    " CHECK (when_empty IN ('warn', 'refuse_creates', 'suspend'))",
    """
    CREATE TABLE budget_suspensions (
        budget_id UUID NOT NULL,
        month DATE NOT NULL,
        measure TEXT NOT NULL,
        percent INTEGER NOT NULL,
        cluster_id UUID NOT NULL,
        suspended_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_budget_suspensions PRIMARY KEY (budget_id, month, measure, percent, cluster_id),
        CONSTRAINT fk_budget_suspensions_budget_id FOREIGN KEY(budget_id) REFERENCES budgets (id),
        CONSTRAINT fk_budget_suspensions_cluster_id FOREIGN KEY(cluster_id) REFERENCES clusters (id),
        CONSTRAINT ck_budget_suspensions_measure CHECK (measure IN ('actual', 'forecast')),
        CONSTRAINT ck_budget_suspensions_first_day CHECK (extract(day FROM month) = 1)
    )
    """,
    "COMMENT ON TABLE budget_suspensions IS 'append-only; the key lets a threshold suspend a cluster once a month'",
    "CREATE INDEX ix_budget_suspensions_cluster ON budget_suspensions (cluster_id)",
    "GRANT SELECT, INSERT ON budget_suspensions TO ipucloud_app",
)
DOWN = (
    "DROP TABLE budget_suspensions",
    "UPDATE prepaid_accounts SET when_empty = 'refuse_creates' WHERE when_empty = 'suspend'",
    "ALTER TABLE prepaid_accounts DROP CONSTRAINT ck_prepaid_accounts_when_empty",
    "ALTER TABLE prepaid_accounts ADD CONSTRAINT ck_prepaid_accounts_when_empty"
    " CHECK (when_empty IN ('warn', 'refuse_creates'))",
    "UPDATE budget_thresholds SET action = 'refuse_creates' WHERE action = 'suspend'",
    "ALTER TABLE budget_thresholds DROP CONSTRAINT ck_budget_thresholds_action",
    "ALTER TABLE budget_thresholds ADD CONSTRAINT ck_budget_thresholds_action CHECK (action IN ('refuse_creates'))",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
