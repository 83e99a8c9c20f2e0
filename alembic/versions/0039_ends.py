"""A confirmed fault report ends with its cluster; a freeze that expires is ended by nobody.

Revision ID: 0039
Revises: 0038
"""

from __future__ import annotations

from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE fault_reports DROP CONSTRAINT ck_fault_reports_state, DROP CONSTRAINT ck_fault_reports_confirmed,"
    " ADD closed_at TIMESTAMP WITH TIME ZONE",
    """
    UPDATE fault_reports AS fault SET state = 'closed', closed_at = app_now() FROM clusters AS c
     WHERE fault.state = 'confirmed' AND c.id = fault.cluster_id AND c.state = 'deleted'
    """,
    """
    ALTER TABLE fault_reports
      ADD CONSTRAINT ck_fault_reports_state
          CHECK (state IN ('open', 'confirmed', 'dismissed', 'repaired', 'closed')),
      ADD CONSTRAINT ck_fault_reports_confirmed
          CHECK ((report_id IS NOT NULL) = (state IN ('confirmed', 'repaired', 'closed'))),
      ADD CONSTRAINT ck_fault_reports_closed CHECK ((closed_at IS NOT NULL) = (state = 'closed'))
    """,
    "GRANT UPDATE (closed_at) ON fault_reports TO ipucloud_app",
    "ALTER TABLE freezes DROP CONSTRAINT ck_freezes_end",
    """
    ALTER TABLE freezes ADD CONSTRAINT ck_freezes_end
      CHECK (num_nulls(ended_at, end_reason) IN (0, 2) AND (ended_by IS NULL OR ended_at IS NOT NULL))
    """,
    "COMMENT ON COLUMN freezes.ended_by IS 'token; NULL when it expired'",
)
DOWN = (
    "UPDATE freezes SET ended_by = created_by WHERE ended_at IS NOT NULL AND ended_by IS NULL",
    "ALTER TABLE freezes DROP CONSTRAINT ck_freezes_end",
    "ALTER TABLE freezes ADD CONSTRAINT ck_freezes_end CHECK (num_nulls(ended_at, ended_by, end_reason) IN (0, 3))",
    "COMMENT ON COLUMN freezes.ended_by IS 'token'",
    "ALTER TABLE fault_reports DROP CONSTRAINT ck_fault_reports_state, DROP CONSTRAINT ck_fault_reports_confirmed,"
    " DROP CONSTRAINT ck_fault_reports_closed",
    "UPDATE fault_reports SET state = 'repaired', repaired_at = closed_at WHERE state = 'closed'",
    """
    ALTER TABLE fault_reports DROP closed_at,
      ADD CONSTRAINT ck_fault_reports_state CHECK (state IN ('open', 'confirmed', 'dismissed', 'repaired')),
      ADD CONSTRAINT ck_fault_reports_confirmed
          CHECK ((report_id IS NOT NULL) = (state IN ('confirmed', 'repaired')))
    """,
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
