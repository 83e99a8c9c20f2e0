"""Row-level security: a request that changes a project cannot change rows of another one.

Revision ID: 0330
Revises: 0320
"""

from __future__ import annotations

from alembic import op

revision = "0330"
down_revision = "0320"
branch_labels = None
depends_on = None

FUNCTION = """
CREATE FUNCTION changed_project() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT nullif(current_setting('ipucloud.changed_project', true), '')::uuid $$
"""
CHANGEABLE = {
    "(SELECT changed_project()) IS NULL OR id = (SELECT changed_project())": ("projects",),
    "(SELECT changed_project()) IS NULL OR project_id = (SELECT changed_project())": (
        "allocations",
        "capacity_waits",
        "cluster_rebuilds",
        "cluster_s3_connections",
        "cluster_samples",
        "cluster_schedules",
        "clusters",
        "console_boots",
        "create_holds",
        "fault_reports",
        "invoice_lines",
        "job_logs",
        "jobs",
        "notification_subscriptions",
        "partitions",
        "poplar_servers",
        "preemptions",
        "project_accounts",
        "quota_requests",
        "quotas",
        "reservations",
        "resizes",
        "scheduled_repairs",
        "server_uses",
        "service_logs",
        "service_request_totals",
        "service_requests",
        "services",
        "snapshots",
        "ssh_authorities",
        "ssh_keys",
        "terminals",
        "token_clusters",
        "usage_charges",
        "usage_credits",
        "usage_days",
        "usage_intervals",
        "vipu_access_keys",
        "vipu_links",
        "volume_origins",
        "volume_quotas",
        "volumes",
    ),
    "(SELECT changed_project()) IS NULL OR project_id = (SELECT changed_project()) OR project_id IS NULL": (
        "audit_log",
        "budgets",
        "events",
        "export_limits",
        "export_schedules",
        "exports",
        "invitations",
        "mails",
        "operation_steps",
        "operations",
        "repairs",
        "s3_connections",
        "site_findings",
        "tokens",
        "webhook_deliveries",
        "webhooks",
    ),
}
JUDGED_TOGETHER = (
    "capacity_waits",
    "clusters",
    "create_holds",
    "invoice_lines",
    "operations",
    "project_accounts",
    "projects",
    "reservations",
    "snapshots",
    "usage_charges",
    "usage_credits",
    "usage_days",
    "usage_intervals",
    "volumes",
)
APP = "ipucloud_app"
LOCK = f"LOCK TABLE {', '.join(sorted(table for tables in CHANGEABLE.values() for table in tables))}"


def upgrade() -> None:
    op.execute(LOCK)  # all at once: the shorter the time in which they are taken, the fewer deadlocks with what runs
    op.execute(FUNCTION)
    for condition, tables in CHANGEABLE.items():
        for table in tables:
            if table not in JUDGED_TOGETHER:
                op.execute(f"CREATE POLICY changes ON {table} AS RESTRICTIVE TO {APP} USING ({condition})")
                continue
            op.execute(f"CREATE POLICY inserts ON {table} AS RESTRICTIVE FOR INSERT TO {APP} WITH CHECK ({condition})")
            op.execute(f"CREATE POLICY updates ON {table} AS RESTRICTIVE FOR UPDATE TO {APP} USING ({condition})")
            op.execute(f"CREATE POLICY deletes ON {table} AS RESTRICTIVE FOR DELETE TO {APP} USING ({condition})")


def downgrade() -> None:
    op.execute(LOCK)
    for tables in CHANGEABLE.values():
        for table in tables:
            for policy in ("inserts", "updates", "deletes") if table in JUDGED_TOGETHER else ("changes",):
                op.execute(f"DROP POLICY {policy} ON {table}")
    op.execute("DROP FUNCTION changed_project()")
