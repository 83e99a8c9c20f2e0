"""Row-level security: reads about a billing account see its rows, and those of the projects that it pays for.

Revision ID: 0331
Revises: 0330
"""

from __future__ import annotations

from collections.abc import Iterator

from alembic import op

revision = "0331"
down_revision = "0330"
branch_labels = None
depends_on = None

FUNCTIONS = (
    """
    CREATE FUNCTION payer_id() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('ipucloud.payer', true), '')::uuid $$
    """,
    """
    CREATE FUNCTION payees() RETURNS SETOF uuid LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
    SET search_path = public, pg_temp
    AS $$ SELECT project_id FROM project_accounts WHERE account_id = payer_id() $$
    """,
)
OWN = "project_id = (SELECT tenant_id())"
PAYERS = "SELECT paying.account_id FROM project_accounts AS paying"
PAYERS_OF_TENANT = f"{PAYERS} WHERE paying.project_id = (SELECT tenant_id())"
PAYING = "account_id = (SELECT payer_id())"
PAYEE = "(SELECT payer_id()) IS NOT NULL AND {} IN (SELECT payees())"

OF_PROJECT_OR_ACCOUNT = (
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
)
OF_ACCOUNT = (
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
)
OF_PAYEES = (
    "allocations",
    "clusters",
    "project_accounts",
    "reservations",
    "snapshots",
    "usage_credits",
    "usage_intervals",
    "volumes",
)
NEW = {
    "ledger_accounts": "owner_id = (SELECT payer_id())",
    "promo_credit_uses": "EXISTS (SELECT FROM promo_credits WHERE promo_credits.id = credit_id)",
}
READABLE = (
    "ledger_accounts, promo_credit_uses, billing_months, day_rollups, dirty_hours, hour_closes, invoiced_months,"
    " sellers, tax_rates"
)


def conditions() -> Iterator[tuple[str, str, str]]:
    """Tables, what their policy has shown, and what it shows."""
    for table in OF_PROJECT_OR_ACCOUNT:
        unowned = f"{OWN} OR project_id IS NULL AND account_id IN ({{}})"
        yield table, unowned.format(PAYERS), f"{unowned.format(PAYERS_OF_TENANT)} OR {PAYING}"
    for table in OF_ACCOUNT:
        yield table, f"account_id IN ({PAYERS})", f"account_id IN ({PAYERS_OF_TENANT}) OR {PAYING}"
    for table in OF_PAYEES:
        yield table, OWN, f"{OWN} OR {PAYEE.format('project_id')}"
    yield "projects", "id = (SELECT tenant_id())", f"id = (SELECT tenant_id()) OR {PAYEE.format('id')}"
    yield "billing_accounts", f"id IN ({PAYERS})", f"id IN ({PAYERS_OF_TENANT}) OR id = (SELECT payer_id())"
    own_token = f"{OWN} OR id = (SELECT tenant_token())"
    yield "tokens", own_token, f"{own_token} OR {PAYING}"


def lock() -> None:
    op.execute(f"LOCK TABLE {', '.join(sorted(table for table, _, _ in conditions()))}, {', '.join(NEW)}")


def upgrade() -> None:
    lock()  # all at once: the shorter the time in which they are taken, the fewer deadlocks with what runs
    for statement in FUNCTIONS:
        op.execute(statement)
    for table, _, shown in conditions():
        op.execute(f"ALTER POLICY tenant ON {table} USING ({shown})")
    for table, shown in NEW.items():
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY platform ON {table} TO ipucloud_app, CURRENT_USER USING (true) WITH CHECK (true)")
        op.execute(f"CREATE POLICY tenant ON {table} FOR SELECT TO ipucloud_tenant USING ({shown})")
    op.execute(f"GRANT SELECT ON {READABLE} TO ipucloud_tenant")


def downgrade() -> None:
    lock()
    op.execute(f"REVOKE SELECT ON {READABLE} FROM ipucloud_tenant")  # noqa: S608  # our own text
    for table in NEW:
        op.execute(f"DROP POLICY tenant ON {table}")
        op.execute(f"DROP POLICY platform ON {table}")
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY")
    for table, shown, _ in conditions():
        op.execute(f"ALTER POLICY tenant ON {table} USING ({shown})")
    op.execute("DROP FUNCTION payees(), payer_id()")
