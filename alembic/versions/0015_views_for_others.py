"""Views and functions through which packages use tables of others.

Revision ID: 0015
Revises: 0014
"""

from __future__ import annotations

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


UP = (
    """
CREATE FUNCTION record_first_partition(partition uuid, cluster uuid) RETURNS void LANGUAGE sql AS $$
  INSERT INTO partitions (id, project_id, cluster_id, origin, name, external_name, desired_state, state)
  SELECT partition, project_id, id, 'cluster', external_name, external_name, 'unmanaged', 'active'
    FROM clusters WHERE id = cluster
  ON CONFLICT (cluster_id, external_name) DO NOTHING
$$
    """,
    """
CREATE FUNCTION remove_partitions(project uuid, cluster uuid, operation uuid) RETURNS void LANGUAGE sql AS $$
  WITH removed AS (
    UPDATE partitions
       SET desired_state = CASE origin WHEN 'customer' THEN desired_state ELSE 'absent' END, state = 'removed',
           removed_at = app_now(), state_reason = 'the cluster was taken down', state_entered_at = app_now(),
           version = version + 1
     WHERE project_id = project AND cluster_id = cluster AND removed_at IS NULL
    RETURNING id, origin
  )
INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id, data)
  SELECT project, 'partition.removed', 'partition', id, operation, NULL, jsonb_build_object('cluster', cluster)
    FROM removed WHERE origin <> 'customer'
$$
    """,
    """
CREATE FUNCTION forget_customers_partitions(project uuid, cluster uuid) RETURNS void LANGUAGE sql AS $$
  DELETE FROM partitions WHERE project_id = project AND cluster_id = cluster AND origin = 'customer'
$$
    """,
    """
CREATE VIEW shown_partitions WITH (security_invoker = true) AS
SELECT id, project_id, cluster_id, name, created_at, removed_at,
       coalesce(observed, requested) -> 'size' AS size,
       coalesce(observed, requested) -> 'reconfigurable' AS reconfigurable
  FROM partitions
    """,
    """
CREATE VIEW billed_clusters WITH (security_invoker = true) AS
SELECT id, project_id, name, tags, region, flavor, machine_type, machines, ipus, sku, currency, state, state_entered_at,
       delete_protection, expires_at, created_at, delete_requested_at
  FROM clusters
    """,
    "GRANT SELECT ON billed_clusters, shown_partitions TO ipucloud_app",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP VIEW billed_clusters, shown_partitions")
    op.execute("DROP FUNCTION forget_customers_partitions, remove_partitions, record_first_partition")
