"""Machines that do not work are credited: their number in usage intervals and charges, and the reports that say so.

Revision ID: 0018
Revises: 0017
"""

from __future__ import annotations

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE usage_intervals ADD credited INTEGER DEFAULT '0' NOT NULL",
    "COMMENT ON COLUMN usage_intervals.credited IS 'machines of them that are not billed'",
    "ALTER TABLE usage_intervals ADD CONSTRAINT ck_usage_intervals_credited CHECK (credited BETWEEN 0 AND quantity)",
    "ALTER TABLE usage_intervals ADD CONSTRAINT uq_usage_intervals_project_id_id UNIQUE (project_id, id)",
    "CREATE INDEX ix_usage_intervals_credited ON usage_intervals (id) WHERE credited > 0",
    """
    CREATE TABLE usage_credits (
        interval_id UUID NOT NULL,
        report_id UUID NOT NULL,
        project_id UUID NOT NULL,
        cited_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_usage_credits PRIMARY KEY (interval_id, report_id),
        CONSTRAINT fk_usage_credits_report_id FOREIGN KEY(report_id) REFERENCES health_reports (id),
        CONSTRAINT fk_usage_credits_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_usage_credits_project_id_interval_id
            FOREIGN KEY(project_id, interval_id) REFERENCES usage_intervals (project_id, id)
    )
    """,
    "COMMENT ON TABLE usage_credits IS"
    " 'append-only; the health reports for which an interval''s machines are not billed'",
    "CREATE INDEX ix_usage_credits_report ON usage_credits (report_id)",
    "CREATE INDEX ix_usage_credits_project ON usage_credits (project_id, interval_id)",
    "GRANT SELECT, INSERT ON usage_credits TO ipucloud_app",
    "ALTER TABLE usage_charges ADD credited INTEGER DEFAULT '0' NOT NULL",
    "COMMENT ON COLUMN usage_charges.quantity IS 'machines billed'",
    "COMMENT ON COLUMN usage_charges.credited IS 'further machines, not billed'",
    "ALTER TABLE usage_charges DROP CONSTRAINT ck_usage_charges_quantity",
    "ALTER TABLE usage_charges ADD CONSTRAINT ck_usage_charges_quantity"
    " CHECK (quantity >= 0 AND credited >= 0 AND quantity + credited > 0)",
)
DOWN = (
    "ALTER TABLE usage_charges DROP CONSTRAINT ck_usage_charges_quantity",
    "ALTER TABLE usage_charges DROP credited",
    # A charge of machines that were all credited costs nothing, and no row of before can be one: it stays unchecked.
    "ALTER TABLE usage_charges ADD CONSTRAINT ck_usage_charges_quantity CHECK (quantity > 0) NOT VALID",
    "COMMENT ON COLUMN usage_charges.quantity IS 'machines'",
    "DROP TABLE usage_credits",
    "ALTER TABLE usage_intervals DROP CONSTRAINT uq_usage_intervals_project_id_id",
    "ALTER TABLE usage_intervals DROP credited",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
