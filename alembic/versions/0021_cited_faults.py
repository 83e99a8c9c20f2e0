"""Invoices say what they do not bill: credited machine-minutes of a line, and the reports that credits cite.

Revision ID: 0021
Revises: 0020
"""

from __future__ import annotations

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

UP = (
    """
CREATE VIEW cited_faults WITH (security_invoker = true) AS
SELECT r.id, CASE WHEN r.machine_id IS NULL THEN 'poplar_server' ELSE 'machine' END AS kind, m.name AS machine, r.code,
       r.message, r.first_seen_at,
       CASE WHEN r.cleared_at IS NOT NULL THEN coalesce(r.good_since, r.cleared_at) END AS ended_at
  FROM health_reports r LEFT JOIN machines m ON m.id = r.machine_id
    """,
    "GRANT SELECT ON cited_faults TO ipucloud_app",
    "ALTER TABLE invoice_lines ADD credited_machine_minutes BIGINT DEFAULT '0' NOT NULL",
    "COMMENT ON COLUMN invoice_lines.credited_machine_minutes IS 'further ones, of machines that did not work'",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute("ALTER TABLE invoice_lines DROP credited_machine_minutes")
    op.execute("DROP VIEW cited_faults")
