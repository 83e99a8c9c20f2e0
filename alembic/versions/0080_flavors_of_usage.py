"""Usage intervals and the daily roll-up have the flavor at which a cluster was used.

Revision ID: 0080
Revises: 0065
"""

from __future__ import annotations

from alembic import op

revision = "0080"
down_revision = "0075"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE usage_intervals ADD flavor TEXT",
    "ALTER TABLE usage_intervals DISABLE TRIGGER usage_intervals_final",
    "ALTER TABLE usage_intervals DISABLE TRIGGER usage_intervals_late",
    # A resize ends the interval: until the first one that was requested after its start, the flavor was that before it.
    """
    UPDATE usage_intervals AS u
       SET flavor = coalesce(
             (SELECT r.from_flavor
                FROM resizes r
                JOIN operations o ON (o.project_id, o.id) = (r.project_id, r.operation_id)
               WHERE (r.project_id, r.cluster_id) = (u.project_id, u.cluster_id) AND o.created_at >= u.started_at
                 AND r.from_machines = u.quantity
               ORDER BY o.created_at LIMIT 1),
             (SELECT flavor FROM clusters c WHERE (c.project_id, c.id) = (u.project_id, u.cluster_id)))
    """,
    "ALTER TABLE usage_intervals ENABLE TRIGGER usage_intervals_final",
    "ALTER TABLE usage_intervals ENABLE TRIGGER usage_intervals_late",
    "ALTER TABLE usage_intervals ALTER flavor SET NOT NULL",
    "COMMENT ON COLUMN usage_intervals.flavor IS 'the cluster''s at that time'",
    # Derived from the charges, and made again within minutes.
    "TRUNCATE usage_days, day_rollups",
    "ALTER TABLE usage_days ADD flavor TEXT NOT NULL",
    "COMMENT ON COLUMN usage_days.flavor IS 'at which it was used'",
    "ALTER TABLE usage_days DROP CONSTRAINT pk_usage_days",
    "ALTER TABLE usage_days ADD CONSTRAINT pk_usage_days"
    " PRIMARY KEY (day, version, cluster_id, account_id, flavor, sku, region, currency)",
)
DOWN = (
    "TRUNCATE usage_days, day_rollups",
    "ALTER TABLE usage_days DROP CONSTRAINT pk_usage_days",
    "ALTER TABLE usage_days DROP flavor",
    "ALTER TABLE usage_days ADD CONSTRAINT pk_usage_days"
    " PRIMARY KEY (day, version, cluster_id, account_id, sku, region, currency)",
    "ALTER TABLE usage_intervals DROP flavor",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
