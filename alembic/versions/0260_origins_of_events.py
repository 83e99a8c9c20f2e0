"""Events say where the request came from, and in which region their subject is. Those that exist do not.

Revision ID: 0260
Revises: 0250
"""

from __future__ import annotations

from alembic import op

revision = "0260"
down_revision = "0250"
branch_labels = None
depends_on = None

UP = (
    """
    ALTER TABLE events
      ADD actor_home UUID DEFAULT CAST(nullif(current_setting('ipucloud.actor_home', true), '') AS uuid),
      ADD address TEXT DEFAULT nullif(current_setting('ipucloud.address', true), ''),
      ADD agent TEXT DEFAULT nullif(current_setting('ipucloud.agent', true), ''),
      ADD CONSTRAINT ck_events_origin CHECK (length(address) <= 64 AND length(agent) <= 200)
    """,
    "COMMENT ON COLUMN events.region IS 'its slug; NULL: none'",
    "COMMENT ON COLUMN events.actor_home IS"
    " 'project or account of that token, whose readers see the next two; NULL: the platform''s, or none'",
    "COMMENT ON COLUMN events.address IS 'IP address that the request came from; NULL: no request'",
    "COMMENT ON COLUMN events.agent IS 'program that sent it, as it says; NULL: no request, or it does not say'",
    """
CREATE FUNCTION set_region_of_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  cluster uuid;
BEGIN
  CASE NEW.subject_type
    WHEN 'cluster' THEN cluster := NEW.subject_id;
    WHEN 'partition' THEN
      SELECT cluster_id INTO cluster FROM partitions WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'job' THEN
      SELECT cluster_id INTO cluster FROM jobs WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'service' THEN
      SELECT cluster_id INTO cluster FROM services WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'terminal' THEN
      SELECT cluster_id INTO cluster FROM terminals WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'fault_report' THEN
      SELECT cluster_id INTO cluster FROM fault_reports WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'volume' THEN
      SELECT region INTO NEW.region FROM volumes WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'reservation' THEN
      SELECT region INTO NEW.region FROM reservations WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    ELSE
      NEW.region := NEW.data ->> 'region';
  END CASE;
  IF cluster IS NOT NULL THEN
    SELECT region INTO NEW.region FROM clusters WHERE project_id = NEW.project_id AND id = cluster;
  END IF;
  RETURN NEW;
END $$
""",
    """
CREATE TRIGGER event_region BEFORE INSERT ON events FOR EACH ROW
  WHEN (NEW.region IS NULL AND NEW.project_id IS NOT NULL AND NEW.subject_type IN (
    'cluster', 'partition', 'job', 'service', 'terminal', 'fault_report', 'volume', 'reservation', 'quota_request'))
  EXECUTE FUNCTION set_region_of_event()
""",
)
DOWN = (
    "DROP TRIGGER event_region ON events",
    "DROP FUNCTION set_region_of_event()",
    "COMMENT ON COLUMN events.region IS 'of an event that operators read; NULL: none, or the cluster''s'",
    "ALTER TABLE events DROP CONSTRAINT ck_events_origin, DROP agent, DROP address, DROP actor_home",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
