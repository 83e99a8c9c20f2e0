"""Events find their region in `resources`, names are unique there, payers and changes read there what others hold.

Revision ID: 0009_readers_of_resources
Revises: 0008_resources
"""

from __future__ import annotations

from alembic import op

revision = "0009_readers_of_resources"
down_revision = "0008_resources"
branch_labels = None
depends_on = None

_FUNCTION = """
CREATE OR REPLACE FUNCTION set_region_of_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  {name} uuid;
BEGIN
  CASE NEW.subject_type
{own}    WHEN 'partition' THEN
      SELECT cluster_id INTO {name} FROM partitions WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'job' THEN
      SELECT cluster_id INTO {name} FROM jobs WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'service' THEN
      SELECT cluster_id INTO {name} FROM services WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'terminal' THEN
      SELECT cluster_id INTO {name} FROM terminals WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'fault_report' THEN
      SELECT cluster_id INTO {name} FROM fault_reports WHERE project_id = NEW.project_id AND id = NEW.subject_id;
{rest}
  RETURN NEW;
END $$
"""
_OF_RESOURCES = """    ELSE
      resource := NEW.subject_id;
  END CASE;
  NEW.region := coalesce((SELECT region FROM resources WHERE project_id = NEW.project_id AND id = resource),
                         CASE NEW.subject_type WHEN 'quota_request' THEN NEW.data ->> 'region' END);"""
_OF_NOUNS = """    WHEN 'volume' THEN
      SELECT region INTO NEW.region FROM volumes WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'snapshot' THEN
      SELECT region INTO NEW.region FROM snapshots WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'address' THEN
      SELECT region INTO NEW.region FROM addresses WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'reservation' THEN
      SELECT region INTO NEW.region FROM reservations WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    ELSE
      NEW.region := NEW.data ->> 'region';
  END CASE;
  IF cluster IS NOT NULL THEN
    SELECT region INTO NEW.region FROM clusters WHERE project_id = NEW.project_id AND id = cluster;
  END IF;"""
_OWN = "project_id = (SELECT tenant_id())"
_OR_PAID = " OR (SELECT payer_id()) IS NOT NULL AND project_id IN (SELECT payees())"
_CHANGED = "((SELECT changed_project()) IS NULL OR project_id = (SELECT changed_project()))"
_CHANGES = {"inserts": "FOR INSERT {} WITH CHECK", "updates": "FOR UPDATE {} USING", "deletes": "FOR DELETE {} USING"}


def upgrade() -> None:
    op.execute(_FUNCTION.format(name="resource", own="", rest=_OF_RESOURCES))
    _show(_OWN)
    op.execute(
        "CREATE UNIQUE INDEX uq_resources_name ON resources (project_id, kind, name)"
        " WHERE deleted_at IS NULL AND kind IN ('volume', 'snapshot', 'address')"
    )
    for table in ("addresses", "snapshots", "volumes"):
        op.execute(f"DROP INDEX uq_{table}_name")
        for name in _CHANGES:
            op.execute(f"DROP POLICY {name} ON {table}")
        _restrict(table, "changes", "{} USING")


def downgrade() -> None:
    own = "    WHEN 'cluster' THEN cluster := NEW.subject_id;\n"
    op.execute(_FUNCTION.format(name="cluster", own=own, rest=_OF_NOUNS))
    _show(_OWN + _OR_PAID)
    op.execute("DROP INDEX uq_resources_name")
    for table in ("addresses", "snapshots", "volumes"):
        op.execute(f"CREATE UNIQUE INDEX uq_{table}_name ON {table} (project_id, name) WHERE state <> 'deleted'")
        op.execute(f"DROP POLICY changes ON {table}")
        for name, rule in _CHANGES.items():
            _restrict(table, name, rule)


def _show(condition: str) -> None:
    for table in ("addresses", "allocations", "reservations", "snapshots", "volumes"):
        op.execute(f"ALTER POLICY tenant ON {table} USING ({condition})")


def _restrict(table: str, name: str, rule: str) -> None:
    op.execute(f"CREATE POLICY {name} ON {table} AS RESTRICTIVE {rule.format('TO ipucloud_app')} ({_CHANGED})")
