"""Sensors beyond a threshold are reported.

Revision ID: 0027
Revises: 0026
"""

from __future__ import annotations

from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

_BEFORE = (
    "'bmc_critical', 'powered_off', 'firmware_differs', 'agent_unreachable', 'link_down', 'link_degraded',"
    " 'partition_error', 'host_failed', 'server_off', 'ssh_unreachable', 'host_key_changed', 'not_observed',"
    " 'build_failed', 'replaced', 'not_clean', 'maintenance', 'drain', 'quarantine'"
)


def upgrade() -> None:
    _allow(_BEFORE.replace("'link_down'", "'sensor_critical', 'sensor_warning', 'link_down'"))


def downgrade() -> None:
    op.execute("DELETE FROM health_reports WHERE code IN ('sensor_critical', 'sensor_warning')")
    _allow(_BEFORE)


def _allow(codes: str) -> None:
    op.execute("ALTER TABLE health_reports DROP CONSTRAINT ck_health_reports_code")
    op.execute(f"ALTER TABLE health_reports ADD CONSTRAINT ck_health_reports_code CHECK (code IN ({codes}))")
