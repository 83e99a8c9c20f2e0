"""What a controller says of partitions that do not work; partitions that it lost with their allocation.

Revision ID: 0034
Revises: 0033
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

KEEP_PARTITIONS_BEFORE = """CREATE FUNCTION keep_partitions(project uuid, cluster uuid, operation uuid) RETURNS void LANGUAGE sql AS $$
  WITH kept AS (
    UPDATE partitions
       SET state = 'creating', state_reason = 'it is made again by the repair of its cluster',
           state_entered_at = app_now(), observed = observed || '{"ipus": []}', ipuof = NULL, ipuof_at = NULL,
           version = version + 1
     WHERE project_id = project AND cluster_id = cluster AND removed_at IS NULL AND state <> 'missing'
    RETURNING id, origin
  )
INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id, data)
  SELECT project, 'partition.creating', 'partition', id, operation, NULL, jsonb_build_object('cluster', cluster)
    FROM kept WHERE origin <> 'customer'
$$
"""
KEEP_PARTITIONS = KEEP_PARTITIONS_BEFORE.replace("AND state <> 'missing'", "AND (state <> 'missing' OR lost)").replace(
    "           version", "           status = NULL, status_at = NULL, version"
)
LOSE_PARTITIONS = """CREATE FUNCTION lose_partitions(project uuid, cluster uuid) RETURNS void LANGUAGE sql AS $$
  WITH lost AS (
    UPDATE partitions
       SET state_reason = 'the V-IPU controller lost it with the cluster''s allocation; it is made again automatically',
           state = 'missing', state_entered_at = app_now(), lost = true, status_at = NULL,
           ipuof = NULL, ipuof_at = NULL, version = version + 1
     WHERE project_id = project AND cluster_id = cluster AND removed_at IS NULL AND state <> 'missing'
    RETURNING id, origin, state_reason
  )
INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id, data)
  SELECT project, 'partition.missing', 'partition', id, NULL, NULL,
         jsonb_build_object('cluster', cluster, 'reason', state_reason)
    FROM lost WHERE origin <> 'customer'
$$
"""
KEPT_PARTITIONS_BEFORE = """CREATE VIEW kept_partitions WITH (security_invoker = true) AS
SELECT id, project_id, cluster_id, external_name, created_at,
       CASE origin WHEN 'cluster' THEN NULL ELSE coalesce(requested, observed - 'ipus') END AS shape
  FROM partitions WHERE removed_at IS NULL AND state = 'creating'
"""
KEPT_PARTITIONS = """CREATE VIEW kept_partitions WITH (security_invoker = true) AS
SELECT id, project_id, cluster_id, external_name, created_at, lost AND state = 'missing' AS lost,
       CASE origin WHEN 'cluster' THEN NULL ELSE coalesce(requested, observed - 'ipus') END AS shape
  FROM partitions WHERE removed_at IS NULL AND (state = 'creating' OR lost AND state = 'missing')
"""
UP = (
    "ALTER TABLE partitions ADD status JSONB, ADD status_at TIMESTAMP WITH TIME ZONE,"
    " ADD lost BOOLEAN DEFAULT false NOT NULL",
    "COMMENT ON COLUMN partitions.status IS 'what its controller says while it is not active'",
    "COMMENT ON COLUMN partitions.lost IS 'with its allocation, which is restored'",
    "UPDATE partitions SET state_reason = 'the controller reported an error'"
    " WHERE state = 'error' AND state_reason IS NULL",
    "ALTER TABLE partitions ADD CONSTRAINT ck_partitions_status CHECK ((status IS NULL) = (status_at IS NULL)),"
    " ADD CONSTRAINT ck_partitions_error_has_reason CHECK (state <> 'error' OR state_reason IS NOT NULL)",
    LOSE_PARTITIONS,
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)
    _define(KEEP_PARTITIONS, KEPT_PARTITIONS)
    _allow("'partition_error'::text", "'partition_error'::text, 'allocation_lost'::text")


def downgrade() -> None:
    op.execute(
        "DELETE FROM usage_credits USING health_reports"
        " WHERE report_id = health_reports.id AND code = 'allocation_lost'"
    )
    op.execute("DELETE FROM health_reports WHERE code = 'allocation_lost'")
    _allow(", 'allocation_lost'::text", "")
    _define(KEEP_PARTITIONS_BEFORE, KEPT_PARTITIONS_BEFORE)
    op.execute("DROP FUNCTION lose_partitions")
    op.execute(
        "ALTER TABLE partitions DROP CONSTRAINT ck_partitions_error_has_reason, DROP status, DROP status_at, DROP lost"
    )


def _define(keep: str, kept: str) -> None:
    op.execute(keep.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"))
    op.execute("DROP VIEW kept_partitions")
    op.execute(kept)
    op.execute("GRANT SELECT ON kept_partitions TO ipucloud_app")


def _allow(old: str, new: str) -> None:
    """Change the list of codes that a report may have."""
    constraint = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'ck_health_reports_code'"
    definition: str = op.get_bind().execute(sa.text(constraint)).scalar_one()
    op.execute("ALTER TABLE health_reports DROP CONSTRAINT ck_health_reports_code")
    op.execute(f"ALTER TABLE health_reports ADD CONSTRAINT ck_health_reports_code {definition.replace(old, new)}")
