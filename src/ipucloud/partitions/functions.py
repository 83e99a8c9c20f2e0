"""Database functions and a view through which `clusters`, which may not import this package, uses partitions."""

from __future__ import annotations

from ipucloud.db.documents import clauses
from ipucloud.events.log import RECORD

RECORD_FIRST_PARTITION = """
CREATE FUNCTION record_first_partition(partition uuid, cluster uuid) RETURNS void LANGUAGE sql AS $$
  INSERT INTO partitions (id, project_id, cluster_id, origin, name, external_name, desired_state, state)
  SELECT partition, project_id, id, 'cluster', external_name, external_name, 'unmanaged', 'active'
    FROM clusters WHERE id = cluster
  ON CONFLICT (cluster_id, external_name) DO NOTHING
$$
"""
"""Record the partition that was created with the cluster. The first reconcile pass fills in what was observed."""

REMOVE_PARTITIONS = clauses(
    """
CREATE FUNCTION remove_partitions(project uuid, cluster uuid, operation uuid) RETURNS void LANGUAGE sql AS $$
  WITH removed AS (
    UPDATE partitions
       SET desired_state = CASE origin WHEN 'customer' THEN desired_state ELSE 'absent' END, state = 'removed',
           removed_at = app_now(), state_reason = 'the cluster was taken down', state_entered_at = app_now(),
           version = version + 1
     WHERE project_id = project AND cluster_id = cluster AND removed_at IS NULL
    RETURNING id, origin
  )""",
    RECORD,
    """  SELECT project, 'partition.removed', 'partition', id, operation, NULL, jsonb_build_object('cluster', cluster)
    FROM removed WHERE origin <> 'customer'
$$
""",
)
"""Record that the cluster's partitions were removed because it was taken down, with their events."""

FORGET_CUSTOMERS_PARTITIONS = """
CREATE FUNCTION forget_customers_partitions(project uuid, cluster uuid) RETURNS void LANGUAGE sql AS $$
  DELETE FROM partitions WHERE project_id = project AND cluster_id = cluster AND origin = 'customer'
$$
"""
"""Delete the partitions that customers created at the controller: a resumed cluster may have them again by name."""

SHOWN_PARTITIONS = """
CREATE VIEW shown_partitions WITH (security_invoker = true) AS
SELECT id, project_id, cluster_id, name, created_at, removed_at,
       coalesce(observed, requested) -> 'size' AS size,
       coalesce(observed, requested) -> 'reconfigurable' AS reconfigurable
  FROM partitions
"""
"""The partitions of a cluster's document, as last observed, or else as requested."""
