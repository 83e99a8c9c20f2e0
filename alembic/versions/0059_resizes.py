"""Clusters change their size.

Revision ID: 0059
Revises: 0058
"""

from __future__ import annotations

from alembic import op

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None

KEEP_PARTITIONS = """CREATE OR REPLACE FUNCTION keep_partitions(project uuid, cluster uuid, operation uuid) RETURNS void LANGUAGE sql AS $$
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
  )
INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id, data)
  SELECT project, 'partition.' || state, 'partition', id, operation, NULL, jsonb_build_object('cluster', cluster)
    FROM kept WHERE origin <> 'customer'
$$
"""
KEEP_PARTITIONS_BEFORE = """CREATE OR REPLACE FUNCTION keep_partitions(project uuid, cluster uuid, operation uuid) RETURNS void LANGUAGE sql AS $$
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
RENAME_PARTITIONS = """CREATE OR REPLACE FUNCTION rename_partitions(project uuid, cluster uuid, named text) RETURNS void LANGUAGE sql AS $$
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
RENAME_PARTITIONS_BEFORE = """CREATE OR REPLACE FUNCTION rename_partitions(project uuid, cluster uuid, named text) RETURNS void LANGUAGE sql AS $$
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
"""
UP = (
    "ALTER TABLE allocations ADD COLUMN resize text",
    "ALTER TABLE allocations ADD COLUMN counted boolean NOT NULL DEFAULT true",
    "COMMENT ON COLUMN allocations.resize IS 'part in the open resize of its cluster; NULL: it stays, or none is open'",
    "COMMENT ON COLUMN allocations.counted IS 'in the project''s quota; false: the other block of a resize is'",
    "ALTER TABLE allocations ADD CONSTRAINT ck_allocations_resize CHECK (resize IN ('joins', 'leaves'))",
    """
    CREATE TABLE resizes (
        operation_id UUID NOT NULL,
        project_id UUID NOT NULL,
        cluster_id UUID NOT NULL,
        from_flavor TEXT NOT NULL,
        from_machines INTEGER NOT NULL,
        from_ipus INTEGER NOT NULL,
        from_sku TEXT NOT NULL,
        to_flavor TEXT NOT NULL,
        to_machines INTEGER NOT NULL,
        to_ipus INTEGER NOT NULL,
        to_sku TEXT NOT NULL,
        moves BOOLEAN NOT NULL,
        idle TEXT,
        CONSTRAINT pk_resizes PRIMARY KEY (operation_id),
        CONSTRAINT fk_resizes_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_resizes_project_id_cluster_id FOREIGN KEY(project_id, cluster_id)
            REFERENCES clusters (project_id, id),
        CONSTRAINT fk_resizes_project_id_operation_id FOREIGN KEY(project_id, operation_id)
            REFERENCES operations (project_id, id),
        CONSTRAINT ck_resizes_idle CHECK (idle IN ('joins', 'leaves')),
        CONSTRAINT ck_resizes_sizes CHECK
            (from_machines > 0 AND to_machines > 0 AND from_machines <> to_machines)
    )
    """,
    "COMMENT ON TABLE resizes IS 'what a resize leads from and to, for as long as its cluster is known'",
    "COMMENT ON COLUMN resizes.moves IS 'to another block of machines'",
    "COMMENT ON COLUMN resizes.idle IS 'the allocations that its present steps leave alone; NULL: none'",
    "CREATE INDEX ix_resizes_cluster ON resizes (project_id, cluster_id)",
    "CREATE INDEX ix_resizes_operation ON resizes (project_id, operation_id)",
    "GRANT SELECT, INSERT ON resizes TO ipucloud_app",
    "GRANT UPDATE (idle) ON resizes TO ipucloud_app",
    KEEP_PARTITIONS,
    RENAME_PARTITIONS,
)
DOWN = (
    RENAME_PARTITIONS_BEFORE,
    KEEP_PARTITIONS_BEFORE,
    "DROP TABLE resizes",
    "ALTER TABLE allocations DROP COLUMN counted",
    "ALTER TABLE allocations DROP COLUMN resize",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
