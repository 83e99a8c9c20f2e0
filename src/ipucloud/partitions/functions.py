"""Database functions and a view through which `clusters`, which may not import this package, uses partitions."""

from __future__ import annotations

from ipucloud.db.documents import clauses
from ipucloud.events.log import RECORD
from ipucloud.partitions.decide import LOST, LOST_IN_REMOVAL

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

KEEP_PARTITIONS = clauses(
    """
CREATE FUNCTION keep_partitions(project uuid, cluster uuid, operation uuid) RETURNS void LANGUAGE sql AS $$
  WITH kept AS (
    UPDATE partitions
       SET desired_state = CASE desired_state WHEN 'absent' THEN 'absent' ELSE 'unmanaged' END,
           state = CASE desired_state WHEN 'absent' THEN 'removed' ELSE 'creating' END,
           removed_at = CASE desired_state WHEN 'absent' THEN app_now() END,
           state_reason = (
             SELECT CASE WHEN desired_state = 'absent' AND clusters.state = 'resizing'
                         THEN 'it was being removed when its cluster was resized'
                         WHEN desired_state = 'absent' THEN 'it was being removed when its cluster was repaired'
                         WHEN clusters.state = 'resizing' THEN 'it is made again by the resize of its cluster'
                         ELSE 'it is made again by the repair of its cluster' END
               FROM clusters WHERE clusters.id = cluster),
           state_entered_at = app_now(), observed = observed || '{"ipus": []}', ipuof = NULL, ipuof_at = NULL,
           status = NULL, status_at = NULL, reset_fence = NULL, reset_sent_at = NULL, reset_confirmed = false,
           version = version + 1
     WHERE project_id = project AND cluster_id = cluster AND removed_at IS NULL
       AND (state <> 'missing' OR lost OR desired_state <> 'unmanaged')
    RETURNING id, origin, state
  )""",
    RECORD,
    """  SELECT project, 'partition.' || state, 'partition', id, operation, NULL, jsonb_build_object('cluster', cluster)
    FROM kept WHERE origin <> 'customer'
$$
""",
)
"""Record that the cluster's partitions will be made again by a repair or resize, with their events.

Those that were being made or reset are made again too; those that were being removed are removed. Their operations
have ended before.
"""

LOSE_PARTITIONS = clauses(
    f"""
CREATE FUNCTION lose_partitions(project uuid, cluster uuid) RETURNS void LANGUAGE sql AS $$
  WITH lost AS (
    UPDATE partitions
       SET desired_state = CASE desired_state WHEN 'absent' THEN 'absent' ELSE 'unmanaged' END,
           state = CASE desired_state WHEN 'absent' THEN 'removed' ELSE 'missing' END,
           removed_at = CASE desired_state WHEN 'absent' THEN app_now() END,
           state_reason = CASE desired_state WHEN 'absent' THEN '{LOST_IN_REMOVAL.replace("'", "''")}'
                                             ELSE '{LOST.replace("'", "''")}' END,
           state_entered_at = app_now(), lost = desired_state <> 'absent', status = NULL, status_at = NULL,
           ipuof = NULL, ipuof_at = NULL, reset_fence = NULL, reset_sent_at = NULL, reset_confirmed = false,
           version = version + 1
     WHERE project_id = project AND cluster_id = cluster AND removed_at IS NULL
       AND (state <> 'missing' OR desired_state <> 'unmanaged')
    RETURNING id, origin, state, state_reason
  )""",  # noqa: S608  # our own text
    RECORD,
    """  SELECT project, 'partition.' || state, 'partition', id, NULL, NULL,
         jsonb_build_object('cluster', cluster, 'reason', state_reason)
    FROM lost WHERE origin <> 'customer'
$$
""",
)
"""Record that the controller lost the cluster's partitions with its allocation, with their events.

Those that were being made are made with the others; those that were being removed are removed. Their operations have
ended before.
"""

RENAME_PARTITIONS = """
CREATE FUNCTION rename_partitions(project uuid, cluster uuid, named text) RETURNS void LANGUAGE sql AS $$
  DELETE FROM partitions
   WHERE project_id = project AND cluster_id = cluster AND origin = 'customer' AND removed_at IS NOT NULL;
  UPDATE partitions p
     SET external_name = CASE origin WHEN 'api' THEN named || '-' || number ELSE named END,
         name = CASE origin WHEN 'api' THEN p.name ELSE named END, version = p.version + 1
    FROM clusters c
   WHERE p.project_id = project AND p.cluster_id = cluster AND c.project_id = project AND c.id = cluster
     AND c.state IN ('rebuilding', 'resizing') AND origin <> 'customer'
     AND (removed_at IS NULL OR p.external_name = c.external_name);
$$
"""
"""Give the partitions of a repaired or resized cluster its next external name, also to the one removed on request.

Those that customers created at the controller, and that were removed, are deleted: they may be made again by name.
"""

KEPT_PARTITIONS = """
CREATE VIEW kept_partitions WITH (security_invoker = true) AS
SELECT id, project_id, cluster_id, external_name, created_at, lost AND state = 'missing' AS lost,
       CASE origin WHEN 'cluster' THEN NULL ELSE coalesce(requested, observed - 'ipus') END AS shape
  FROM partitions WHERE removed_at IS NULL AND (state = 'creating' OR lost AND state = 'missing')
"""
"""The partitions that a repair or resize makes again; without a shape the one with all of the cluster's IPUs.

`lost`: its controller lost it with the cluster's allocation.
"""

SHOWN_PARTITIONS = """
CREATE VIEW shown_partitions WITH (security_invoker = true) AS
SELECT id, project_id, cluster_id, name, created_at, removed_at,
       coalesce(observed, requested) -> 'size' AS size,
       coalesce(observed, requested) -> 'reconfigurable' AS reconfigurable
  FROM partitions
"""
"""The partitions of a cluster's document, as last observed, or else as requested."""


SET_REGION_OF_EVENT = """
CREATE FUNCTION set_region_of_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  resource uuid;
BEGIN
  CASE NEW.subject_type
    WHEN 'partition' THEN
      SELECT cluster_id INTO resource FROM partitions WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'job' THEN
      SELECT cluster_id INTO resource FROM jobs WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'service' THEN
      SELECT cluster_id INTO resource FROM services WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'terminal' THEN
      SELECT cluster_id INTO resource FROM terminals WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'fault_report' THEN
      SELECT cluster_id INTO resource FROM fault_reports WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    ELSE
      resource := NEW.subject_id;
  END CASE;
  NEW.region := coalesce((SELECT region FROM resources WHERE project_id = NEW.project_id AND id = resource),
                         CASE NEW.subject_type WHEN 'quota_request' THEN NEW.data ->> 'region' END);
  RETURN NEW;
END $$
"""
"""The region of the resource that an event is about, or whose part it is about."""
EVENT_REGION = """
CREATE TRIGGER event_region BEFORE INSERT ON events FOR EACH ROW
  WHEN (NEW.region IS NULL AND NEW.project_id IS NOT NULL AND NEW.subject_type IN (
    'cluster', 'partition', 'job', 'service', 'terminal', 'fault_report', 'volume', 'snapshot', 'address',
    'reservation', 'quota_request'))
  EXECUTE FUNCTION set_region_of_event()
"""
