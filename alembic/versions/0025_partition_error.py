"""Health reports of machines with partitions in error, which are found by an index.

Revision ID: 0025
Revises: 0024
"""

from __future__ import annotations

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

BEFORE = (
    "'bmc_critical', 'powered_off', 'firmware_differs', 'agent_unreachable', 'link_down', 'link_degraded',"
    " 'host_failed', 'server_off', 'ssh_unreachable', 'host_key_changed', 'not_observed', 'build_failed', 'not_clean',"
    " 'maintenance', 'drain', 'quarantine'"
)


def upgrade() -> None:
    _allow(BEFORE.replace("'link_degraded'", "'link_degraded', 'partition_error'"))
    op.execute(
        "CREATE INDEX ix_partitions_in_error ON partitions (project_id, cluster_id)"
        " WHERE state IN ('error', 'resetting')"
    )


def downgrade() -> None:
    op.execute("DROP INDEX ix_partitions_in_error")
    op.execute(
        "DELETE FROM usage_credits USING health_reports"
        " WHERE report_id = health_reports.id AND code = 'partition_error'"
    )
    op.execute("DELETE FROM health_reports WHERE code = 'partition_error'")
    _allow(BEFORE)


def _allow(codes: str) -> None:
    op.execute("ALTER TABLE health_reports DROP CONSTRAINT ck_health_reports_code")
    op.execute(f"ALTER TABLE health_reports ADD CONSTRAINT ck_health_reports_code CHECK (code IN ({codes}))")
