"""The facts of billing name their resource, which need not be a cluster: `resource_id` instead of `cluster_id`.

Needs all API processes and workers stopped: those of the version before ask for `cluster_id`.

Revision ID: 0270
Revises: 0260
"""

from __future__ import annotations

from alembic import op

revision = "0270"
down_revision = "0260"
branch_labels = None
depends_on = None

TABLES = ("usage_intervals", "usage_charges", "usage_days")
# PostgreSQL 18 has a named constraint for every NOT NULL. It keeps its name when the column is renamed, and a partition
# that was restored from an earlier release has a name of its own: there it stays as it is, and means the same.
RENAMED = """
DO $$ BEGIN
  ALTER TABLE {table} RENAME CONSTRAINT {table}_{old}_not_null TO {table}_{new}_not_null;
EXCEPTION WHEN undefined_object THEN NULL;
END $$
"""
# Generated columns, constraints, indexes and partitions follow by themselves; the text of a function does not.
TOKEN_COST = """
CREATE OR REPLACE FUNCTION token_cost(project uuid, token uuid) RETURNS numeric
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(sum(part.cost), 0)
    FROM token_clusters AS counted
    JOIN usage_intervals AS used ON used.project_id = counted.project_id AND used.{column} = counted.cluster_id
   CROSS JOIN LATERAL (
     SELECT greatest(used.started_at, counted.since) AS since,
            least(used.ended_at, counted.stopped_at, date_trunc('second', app_now(), 'UTC')) AS until
     OFFSET 0) AS counting
   CROSS JOIN LATERAL prices_paid(used.project_id, used.sku, used.region, used.currency) AS price
   CROSS JOIN LATERAL priced_minutes(used.anchor_at, counting.since, counting.until, price.valid_from, price.valid_to,
                                     used.quantity - used.credited, price.unit_price) AS part
   WHERE counted.project_id = project AND counted.token_id = token AND counting.since < counting.until
     AND price.valid_from < counting.until AND price.valid_to > counting.since
$$
"""


def rename(old: str, new: str) -> None:
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} RENAME COLUMN {old}_id TO {new}_id")
        op.execute(RENAMED.format(table=table, old=f"{old}_id", new=f"{new}_id"))
    op.execute(f"ALTER INDEX ix_usage_intervals_{old} RENAME TO ix_usage_intervals_{new}")
    op.execute(f"COMMENT ON COLUMN usage_charges.first_minute IS 'from the {new}''s own start'")
    op.execute(TOKEN_COST.format(column=f"{new}_id"))


def upgrade() -> None:
    rename("cluster", "resource")


def downgrade() -> None:
    rename("resource", "cluster")
