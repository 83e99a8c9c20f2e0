"""Row-level security: a request changes no row of another project, or of another billing account.

Revision ID: 0330
Revises: 0320
"""

from __future__ import annotations

from collections.abc import Iterator

from alembic import op

revision = "0330"
down_revision = "0320"
branch_labels = None
depends_on = None

FUNCTION = """
CREATE FUNCTION changed_{0}() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT nullif(current_setting('ipucloud.changed_{0}', true), '')::uuid $$
"""
OF_PROJECTS = (
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
)
OF_PROJECTS_OR_OTHERS = (
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
)
"""Their rows may have no project."""
OF_ACCOUNTS = (
    "audit_log",
    "bill_proofs",
    "billed_facts",
    "budgets",
    "contract_prices",
    "create_holds",
    "dunning_policies",
    "events",
    "export_limits",
    "export_schedules",
    "exports",
    "invitations",
    "invoices",
    "operation_steps",
    "operations",
    "payment_methods",
    "payments",
    "prepaid_accounts",
    "price_corrections",
    "promo_credits",
    "s3_connections",
    "tokens",
    "top_up_policies",
    "unpriced_minutes",
    "usage_charges",
    "usage_days",
    "webhook_deliveries",
    "webhooks",
)
JUDGED_TOGETHER = (
    "allocations",
    "capacity_waits",
    "clusters",
    "create_holds",
    "invoice_lines",
    "operations",
    "poplar_servers",
    "preemptions",
    "project_accounts",
    "projects",
    "reservations",
    "resizes",
    "snapshots",
    "usage_charges",
    "usage_credits",
    "usage_days",
    "usage_intervals",
    "volumes",
)
APP = "ipucloud_app"


def conditions() -> Iterator[tuple[str, str]]:
    of_project = "(SELECT changed_project()) IS NULL OR {0} = (SELECT changed_project())"
    of_account = "(SELECT changed_account()) IS NULL OR {0} = (SELECT changed_account())"
    yield "billing_accounts", f"({of_account.format('id')})"
    yield "projects", f"({of_project.format('id')})"
    for table in sorted({*OF_PROJECTS, *OF_PROJECTS_OR_OTHERS, *OF_ACCOUNTS}):
        found = []
        if table in OF_PROJECTS:
            found.append(of_project.format("project_id"))
        if table in OF_PROJECTS_OR_OTHERS:
            found.append(f"{of_project.format('project_id')} OR project_id IS NULL")
        if table in OF_ACCOUNTS:
            found.append(of_account.format("account_id"))
        yield table, " AND ".join(f"({each})" for each in found)


def lock() -> None:
    op.execute(f"LOCK TABLE {', '.join(sorted(table for table, _ in conditions()))}")


def upgrade() -> None:
    lock()  # all at once: the shorter the time in which they are taken, the fewer deadlocks with what runs
    for changed in ("project", "account"):
        op.execute(FUNCTION.format(changed))
    for table, condition in conditions():
        if table not in JUDGED_TOGETHER:
            op.execute(f"CREATE POLICY changes ON {table} AS RESTRICTIVE TO {APP} USING ({condition})")
            continue
        op.execute(f"CREATE POLICY inserts ON {table} AS RESTRICTIVE FOR INSERT TO {APP} WITH CHECK ({condition})")
        op.execute(f"CREATE POLICY updates ON {table} AS RESTRICTIVE FOR UPDATE TO {APP} USING ({condition})")
        op.execute(f"CREATE POLICY deletes ON {table} AS RESTRICTIVE FOR DELETE TO {APP} USING ({condition})")


def downgrade() -> None:
    lock()
    for table, _ in conditions():
        for policy in ("inserts", "updates", "deletes") if table in JUDGED_TOGETHER else ("changes",):
            op.execute(f"DROP POLICY {policy} ON {table}")
    op.execute("DROP FUNCTION changed_project(), changed_account()")
