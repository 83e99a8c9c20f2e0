"""Hardware that a repair has replaced; partitions that a repair makes again.

Revision ID: 0026
Revises: 0025
"""

from __future__ import annotations

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

BEFORE = (
    "'bmc_critical', 'powered_off', 'firmware_differs', 'agent_unreachable', 'link_down', 'link_degraded',"
    " 'partition_error', 'host_failed', 'server_off', 'ssh_unreachable', 'host_key_changed', 'not_observed',"
    " 'build_failed', 'not_clean', 'maintenance', 'drain', 'quarantine'"
)
UP = (
    "DROP FUNCTION forget_customers_partitions",
    """
CREATE FUNCTION keep_partitions(project uuid, cluster uuid, operation uuid) RETURNS void LANGUAGE sql AS $$
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
    """,
    """
CREATE FUNCTION rename_partitions(project uuid, cluster uuid, named text) RETURNS void LANGUAGE sql AS $$
  DELETE FROM partitions
   WHERE project_id = project AND cluster_id = cluster AND origin = 'customer' AND removed_at IS NOT NULL;
  UPDATE partitions p
     SET external_name = CASE origin WHEN 'api' THEN named || '-' || number ELSE named END,
         name = CASE origin WHEN 'api' THEN p.name ELSE named END, version = p.version + 1
    FROM clusters c
   WHERE p.project_id = project AND p.cluster_id = cluster AND c.project_id = project AND c.id = cluster
     AND c.state = 'rebuilding' AND origin <> 'customer'
     AND (removed_at IS NULL OR p.external_name = c.external_name);
$$
    """,
    """
CREATE VIEW kept_partitions WITH (security_invoker = true) AS
SELECT id, project_id, cluster_id, external_name, created_at,
       CASE origin WHEN 'cluster' THEN NULL ELSE coalesce(requested, observed - 'ipus') END AS shape
  FROM partitions WHERE removed_at IS NULL AND state = 'creating'
    """,
    "GRANT SELECT ON kept_partitions TO ipucloud_app",
)
DOWN = (
    "DROP VIEW kept_partitions",
    "DROP FUNCTION rename_partitions",
    "DROP FUNCTION keep_partitions",
    """
CREATE FUNCTION forget_customers_partitions(project uuid, cluster uuid) RETURNS void LANGUAGE sql AS $$
  DELETE FROM partitions WHERE project_id = project AND cluster_id = cluster AND origin = 'customer'
$$
    """,
    "DELETE FROM health_reports WHERE code = 'replaced'",
)


def upgrade() -> None:
    _allow(BEFORE.replace("'build_failed'", "'build_failed', 'replaced'"))
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
    _allow(BEFORE)


def _allow(codes: str) -> None:
    op.execute("ALTER TABLE health_reports DROP CONSTRAINT ck_health_reports_code")
    op.execute(f"ALTER TABLE health_reports ADD CONSTRAINT ck_health_reports_code CHECK (code IN ({codes}))")
