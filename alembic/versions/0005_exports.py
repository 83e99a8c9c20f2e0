"""The daily roll-up and cost exports.

Revision ID: 0005
Revises: 0004
"""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

ROLLUP = (
    """
    CREATE TABLE day_rollups (
        day DATE NOT NULL,
        version INTEGER DEFAULT '0' NOT NULL,
        hours INTEGER DEFAULT '0' NOT NULL,
        revisions BIGINT DEFAULT '0' NOT NULL,
        clusters BIGINT DEFAULT '0' NOT NULL,
        built_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_day_rollups PRIMARY KEY (day)
    )
    """,
    "COMMENT ON TABLE day_rollups IS 'holds while hours and revisions are what hour_closes has'",
    "COMMENT ON COLUMN day_rollups.version IS 'of the rows that hold'",
    "COMMENT ON COLUMN day_rollups.hours IS 'of the day that were closed'",
    "COMMENT ON COLUMN day_rollups.revisions IS 'sum of those hours'' revisions'",
    "COMMENT ON COLUMN day_rollups.clusters IS 'rows'",
    """
    CREATE TABLE usage_days (
        day DATE NOT NULL,
        version INTEGER NOT NULL,
        account_id UUID NOT NULL,
        project_id UUID NOT NULL,
        cluster_id UUID NOT NULL,
        sku TEXT NOT NULL,
        region TEXT NOT NULL,
        currency TEXT NOT NULL,
        minutes BIGINT NOT NULL,
        machine_minutes BIGINT NOT NULL,
        cost NUMERIC(28, 10) NOT NULL,
        list_cost NUMERIC(28, 10) NOT NULL,
        CONSTRAINT pk_usage_days PRIMARY KEY (day, version, cluster_id, account_id, sku, region, currency),
        CONSTRAINT fk_usage_days_day FOREIGN KEY(day) REFERENCES day_rollups (day)
    )
    """,
    "COMMENT ON TABLE usage_days IS 'what the charges of a day come to'",
    "CREATE INDEX ix_usage_days_account ON usage_days (account_id, day)",
)
GRANTS = (
    "GRANT SELECT, INSERT, UPDATE ON day_rollups TO ipucloud_app",
    "GRANT SELECT, INSERT, DELETE ON usage_days TO ipucloud_app",
)
GONE = ("DROP TABLE usage_days, day_rollups",)


def upgrade() -> None:
    for statement in (*ROLLUP, *GRANTS):
        op.execute(statement)


def downgrade() -> None:
    for statement in GONE:
        op.execute(statement)
