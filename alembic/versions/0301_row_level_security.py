"""Row-level security: the reads of a project see its rows only.

Revision ID: 0301
Revises: 0300
"""

from __future__ import annotations

from alembic import op

revision = "0301"
down_revision = "0300"
branch_labels = None
depends_on = None

ROLE = """
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'ipucloud_tenant') THEN
    CREATE ROLE ipucloud_tenant NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
  END IF;
  IF NOT pg_has_role('ipucloud_app', 'ipucloud_tenant', 'MEMBER') THEN
    GRANT ipucloud_tenant TO ipucloud_app;
  END IF;
END $$
"""
FUNCTIONS = (
    """
    CREATE FUNCTION tenant_id() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('ipucloud.tenant', true), '')::uuid $$
    """,
    """
    CREATE FUNCTION tenant_token() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('ipucloud.tenant_token', true), '')::uuid $$
    """,
)
VISIBLE = {
    "id IN (SELECT paying.account_id FROM project_accounts AS paying)": ("billing_accounts",),
    "id = (SELECT tenant_id())": ("projects",),
    "EXISTS (SELECT FROM tokens WHERE tokens.owner_id = users.id)": ("users",),
    "project_id = (SELECT tenant_id())": (
        "allocations",
        "capacity_waits",
        "cluster_rebuilds",
        "cluster_s3_connections",
        "cluster_samples",
        "cluster_schedules",
        "clusters",
        "console_boots",
        "fault_reports",
        "job_logs",
        "jobs",
        "mails",
        "notification_subscriptions",
        "partitions",
        "poplar_servers",
        "preemptions",
        "project_accounts",
        "quota_requests",
        "quotas",
        "repairs",
        "reservations",
        "resizes",
        "scheduled_repairs",
        "server_uses",
        "service_logs",
        "service_request_totals",
        "service_requests",
        "services",
        "site_findings",
        "ssh_authorities",
        "ssh_keys",
        "terminals",
        "token_clusters",
        "usage_credits",
        "usage_intervals",
        "vipu_access_keys",
        "vipu_links",
        "volume_quotas",
        "volumes",
        "work",
    ),
    "project_id = (SELECT tenant_id()) OR project_id IS NULL AND account_id IN (SELECT paying.account_id FROM project_accounts AS paying)": (
        "audit_log",
        "budgets",
        "create_holds",
        "events",
        "export_limits",
        "export_schedules",
        "exports",
        "invitations",
        "operation_steps",
        "operations",
        "s3_connections",
        "usage_charges",
        "usage_days",
        "webhook_deliveries",
        "webhooks",
    ),
    "account_id IN (SELECT paying.account_id FROM project_accounts AS paying)": (
        "bill_proofs",
        "billed_facts",
        "contract_prices",
        "dunning_policies",
        "invoices",
        "payment_methods",
        "payments",
        "prepaid_accounts",
        "price_corrections",
        "promo_credits",
        "top_up_policies",
        "unpriced_minutes",
    ),
    "project_id = (SELECT tenant_id()) OR id = (SELECT tenant_token())": ("tokens",),
    "token_id = (SELECT tenant_token())": ("browser_sessions",),
    "EXISTS (SELECT FROM budgets WHERE budgets.id = budget_id)": (
        "budget_alerts",
        "budget_thresholds",
    ),
    "EXISTS (SELECT FROM invoices WHERE invoices.id = invoice_id)": (
        "credit_notes",
        "invoice_lines",
        "invoice_settlements",
        "invoice_taxes",
    ),
}
SHOWN_WAITS = """
CREATE VIEW shown_waits AS
SELECT waits.project_id, waits.cluster_id, place, since, until, held_up_by, looked_at, machines,
       (SELECT min(c.expires_at) FROM clusters AS c
         WHERE c.region = waits.region AND c.machine_type = waits.machine_type AND c.deleted_at IS NULL
           AND NOT c.delete_protection AND c.expires_at > app_now() AND c.id <> waits.cluster_id
           AND c.machines >= waits.machines AND waits.place = 1 AND waits.held_up_by IS NULL) AS expected_at
  FROM (
SELECT project_id, cluster_id, operation_id, kind, region, machine_type, machines, preemptible, since, until,
       looked_at, held_up_by, row_number() OVER (
         PARTITION BY region, machine_type
             ORDER BY preemptible, nth, greatest(since, served_at), since, cluster_id) AS place
  FROM (SELECT w.project_id, w.cluster_id, w.operation_id, w.kind, w.region, w.machine_type, w.machines, w.preemptible,
               w.since, w.until, w.looked_at, w.held_up_by,
               row_number() OVER (PARTITION BY w.region, w.machine_type, w.preemptible, w.project_id
                                      ORDER BY w.since, w.cluster_id) AS nth,
               (SELECT max(granted_at) FROM capacity_waits AS served
                 WHERE (served.region, served.machine_type, served.project_id)
                     = (w.region, w.machine_type, w.project_id)) AS served_at
  FROM capacity_waits AS w JOIN operations AS o ON (o.project_id, o.id) = (w.project_id, w.operation_id)
 WHERE w.granted_at IS NULL AND o.finished_at IS NULL AND NOT o.undoing AND o.state <> 'cancelling'
   AND w.until > app_now()
) AS mine
) AS waits
 WHERE current_user <> 'ipucloud_tenant' OR waits.project_id = tenant_id()
"""
READABLE = (
    "account_prices, billed_clusters, cited_faults, shown_partitions, shown_waits,"
    " health_reports, hosts, machines, observations, pods, prices, vipu_controllers"
)
LOCK = f"LOCK TABLE {', '.join(sorted(table for tables in VISIBLE.values() for table in tables))}"


def upgrade() -> None:
    op.execute(LOCK)  # all at once: the shorter the time in which they are taken, the fewer deadlocks with what runs
    for statement in (ROLE, *FUNCTIONS, "GRANT USAGE ON SCHEMA public TO ipucloud_tenant"):
        op.execute(statement)
    for condition, tables in VISIBLE.items():
        for table in tables:
            op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
            op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
            op.execute(
                f"CREATE POLICY platform ON {table} TO ipucloud_app, CURRENT_USER USING (true) WITH CHECK (true)"
            )
            op.execute(f"CREATE POLICY tenant ON {table} FOR SELECT TO ipucloud_tenant USING ({condition})")
            op.execute(f"GRANT SELECT ON {table} TO ipucloud_tenant")
    op.execute("ALTER VIEW account_prices SET (security_invoker = true)")
    op.execute(SHOWN_WAITS)
    op.execute("GRANT SELECT ON shown_waits TO ipucloud_app")
    op.execute(f"GRANT SELECT ON {READABLE} TO ipucloud_tenant")


def downgrade() -> None:
    op.execute(LOCK)
    for tables in VISIBLE.values():
        for table in tables:
            op.execute(f"DROP POLICY tenant ON {table}")
            op.execute(f"DROP POLICY platform ON {table}")
            op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
            op.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
            op.execute(f"REVOKE SELECT ON {table} FROM ipucloud_tenant")  # noqa: S608  # our own text
    op.execute(f"REVOKE SELECT ON {READABLE} FROM ipucloud_tenant")  # noqa: S608  # our own text
    op.execute("REVOKE USAGE ON SCHEMA public FROM ipucloud_tenant")
    op.execute("DROP VIEW shown_waits")
    op.execute("ALTER VIEW account_prices RESET (security_invoker)")
    op.execute("DROP FUNCTION tenant_id(), tenant_token()")
