"""Resumes and resizes wait for capacity too, and whatever makes room wakes the queue.

Revision ID: 0151
Revises: 0156
"""

from __future__ import annotations

from alembic import op

revision = "0151"
down_revision = "0156"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE capacity_waits ADD COLUMN kind TEXT, ADD COLUMN machines INTEGER",
    """
    UPDATE capacity_waits AS w SET kind = 'cluster.create', machines = c.machines
      FROM clusters AS c WHERE (c.project_id, c.id) = (w.project_id, w.cluster_id)
    """,
    """
    ALTER TABLE capacity_waits ALTER COLUMN kind SET NOT NULL, ALTER COLUMN machines SET NOT NULL,
        ADD CONSTRAINT ck_capacity_waits_kind CHECK (kind IN ('cluster.create', 'cluster.resume', 'cluster.resize'))
    """,
    "COMMENT ON TABLE capacity_waits IS"
    " 'operations that wait for machines; they hold none of those, and no quota for them, until granted_at'",
    "COMMENT ON COLUMN capacity_waits.kind IS 'of the operation'",
    "COMMENT ON COLUMN capacity_waits.machines IS 'that the cluster is to have; of a resize its new size'",
    "DROP INDEX uq_capacity_waits_cluster",
    "CREATE INDEX ix_capacity_waits_cluster ON capacity_waits (project_id, cluster_id)",
    "ALTER TABLE resizes ALTER COLUMN moves DROP NOT NULL",
    "COMMENT ON COLUMN resizes.moves IS 'to another block of machines; NULL: it has waited for capacity so far'",
    "GRANT UPDATE (moves) ON resizes TO ipucloud_app",
    """
CREATE FUNCTION wake_those_that_wait() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM capacity_waits WHERE granted_at IS NULL AND until > app_now()) THEN
    UPDATE work SET wake_seq = wake_seq + 1, run_at = least(run_at, app_now())
     WHERE kind = 'periodic' AND key = 'serve_waiting_clusters';
  END IF;
  RETURN NULL;
END
$$
    """,
    """
    CREATE CONSTRAINT TRIGGER pods_wake_those_that_wait AFTER UPDATE ON pods DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.free_mask & ~OLD.free_mask <> 0) EXECUTE FUNCTION wake_those_that_wait()
    """,
    """
    CREATE CONSTRAINT TRIGGER hosts_wake_those_that_wait AFTER UPDATE ON hosts DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.allocatable AND NOT NEW.held AND (OLD.held OR NOT OLD.allocatable))
    EXECUTE FUNCTION wake_those_that_wait()
    """,
    """
    CREATE CONSTRAINT TRIGGER quotas_wake_those_that_wait AFTER UPDATE ON quotas DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.machine_limit - NEW.used > OLD.machine_limit - OLD.used)
    EXECUTE FUNCTION wake_those_that_wait()
    """,
)
DOWN = (
    "DROP TRIGGER quotas_wake_those_that_wait ON quotas",
    "DROP TRIGGER hosts_wake_those_that_wait ON hosts",
    "DROP TRIGGER pods_wake_those_that_wait ON pods",
    "DROP FUNCTION wake_those_that_wait",
    "REVOKE UPDATE (moves) ON resizes FROM ipucloud_app",
    "UPDATE resizes SET moves = false WHERE moves IS NULL",
    "ALTER TABLE resizes ALTER COLUMN moves SET NOT NULL",
    "COMMENT ON COLUMN resizes.moves IS 'to another block of machines'",
    "DELETE FROM capacity_waits WHERE kind <> 'cluster.create'",
    "DROP INDEX ix_capacity_waits_cluster",
    "CREATE UNIQUE INDEX uq_capacity_waits_cluster ON capacity_waits (project_id, cluster_id)",
    "COMMENT ON TABLE capacity_waits IS"
    " 'creates that wait for machines; they hold none, and no quota, until granted_at'",
    "ALTER TABLE capacity_waits DROP COLUMN machines, DROP COLUMN kind",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
