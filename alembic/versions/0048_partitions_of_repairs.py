"""A repair takes the place of the operations on partitions.

Revision ID: 0048
Revises: 0047
"""

from __future__ import annotations

from alembic import op

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

KEEP_PARTITIONS = """CREATE OR REPLACE FUNCTION keep_partitions(project uuid, cluster uuid, operation uuid) RETURNS void LANGUAGE sql AS $$
  WITH kept AS (
    UPDATE partitions
       SET desired_state = CASE desired_state WHEN 'absent' THEN 'absent' ELSE 'unmanaged' END,
           state = CASE desired_state WHEN 'absent' THEN 'removed' ELSE 'creating' END,
           removed_at = CASE desired_state WHEN 'absent' THEN app_now() END,
           state_reason = CASE desired_state WHEN 'absent' THEN 'it was being removed when its cluster was repaired'
                                             ELSE 'it is made again by the repair of its cluster' END,
           state_entered_at = app_now(), observed = observed || '{"ipus": []}', ipuof = NULL, ipuof_at = NULL,
           status = NULL, status_at = NULL, reset_fence = NULL, reset_sent_at = NULL, reset_confirmed = false,
           version = version + 1
     WHERE project_id = project AND cluster_id = cluster AND removed_at IS NULL
       AND (state <> 'missing' OR lost OR desired_state <> 'unmanaged')
    RETURNING id, origin, state
  )
INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id, data)
  SELECT project, 'partition.' || state, 'partition', id, operation, NULL, jsonb_build_object('cluster', cluster)
    FROM kept WHERE origin <> 'customer'
$$
"""
KEEP_PARTITIONS_BEFORE = """CREATE OR REPLACE FUNCTION keep_partitions(project uuid, cluster uuid, operation uuid) RETURNS void LANGUAGE sql AS $$
  WITH kept AS (
    UPDATE partitions
       SET state = 'creating', state_reason = 'it is made again by the repair of its cluster',
           state_entered_at = app_now(), observed = observed || '{"ipus": []}', ipuof = NULL, ipuof_at = NULL,
           status = NULL, status_at = NULL, version = version + 1
     WHERE project_id = project AND cluster_id = cluster AND removed_at IS NULL AND (state <> 'missing' OR lost)
    RETURNING id, origin
  )
INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id, data)
  SELECT project, 'partition.creating', 'partition', id, operation, NULL, jsonb_build_object('cluster', cluster)
    FROM kept WHERE origin <> 'customer'
$$
"""
LOSE_PARTITIONS = """CREATE OR REPLACE FUNCTION lose_partitions(project uuid, cluster uuid) RETURNS void LANGUAGE sql AS $$
  WITH lost AS (
    UPDATE partitions
       SET desired_state = CASE desired_state WHEN 'absent' THEN 'absent' ELSE 'unmanaged' END,
           state = CASE desired_state WHEN 'absent' THEN 'removed' ELSE 'missing' END,
           removed_at = CASE desired_state WHEN 'absent' THEN app_now() END,
           state_reason = CASE desired_state WHEN 'absent' THEN 'the V-IPU controller lost it with the cluster''s allocation while it was being removed'
                                             ELSE 'the V-IPU controller lost it with the cluster''s allocation; it is made again automatically' END,
           state_entered_at = app_now(), lost = desired_state <> 'absent', status = NULL, status_at = NULL,
           ipuof = NULL, ipuof_at = NULL, reset_fence = NULL, reset_sent_at = NULL, reset_confirmed = false,
           version = version + 1
     WHERE project_id = project AND cluster_id = cluster AND removed_at IS NULL
       AND (state <> 'missing' OR desired_state <> 'unmanaged')
    RETURNING id, origin, state, state_reason
  )
INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id, data)
  SELECT project, 'partition.' || state, 'partition', id, NULL, NULL,
         jsonb_build_object('cluster', cluster, 'reason', state_reason)
    FROM lost WHERE origin <> 'customer'
$$
"""
LOSE_PARTITIONS_BEFORE = """CREATE OR REPLACE FUNCTION lose_partitions(project uuid, cluster uuid) RETURNS void LANGUAGE sql AS $$
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


def upgrade() -> None:
    op.execute(KEEP_PARTITIONS)
    op.execute(LOSE_PARTITIONS)


def downgrade() -> None:
    op.execute(KEEP_PARTITIONS_BEFORE)
    op.execute(LOSE_PARTITIONS_BEFORE)
