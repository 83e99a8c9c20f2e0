"""Row-level security: what the database lets a project's readers see, whatever statement they send.

A request for a project reads as `ipucloud_tenant`. That role may only SELECT, owns nothing and bypasses no policy, and
the policies show it the rows of one project: that of the setting `ipucloud.tenant`, which holds for one implicit
transaction. Without the setting it sees no row of any tenant. The application's own role sees all rows: it allocates,
bills and audits across projects.

A request that changes a project runs as the application, which judges it together with those of others. In its
transaction, in which `ipucloud.changed_project` names the project, no row of another one can be locked or written, and
few can be read. In a change of a billing account, `ipucloud.changed_account` does the same for it.

What a token is limited to is in `ipucloud.clusters` for its reads and changes: then clusters, operations and events of
others are not there (`OF_CLUSTERS`), whatever the statement says.
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from ipucloud.db.base import metadata

OWNER_ROLE = "ipucloud_owner"
APP_ROLE = "ipucloud_app"
TENANT_ROLE = "ipucloud_tenant"
"""Nobody logs in as this role: the application's takes it for the reads of a project (`db.tenancy`)."""

HISTORY = {
    "audit_log": ("DELETE", "TRUNCATE"),
    "audit_log_start": ("INSERT", "UPDATE", "DELETE", "TRUNCATE"),
    "billing_months": ("INSERT", "DELETE", "TRUNCATE"),
    "bill_proofs": ("UPDATE", "DELETE", "TRUNCATE"),
    "billed_facts": ("UPDATE", "DELETE", "TRUNCATE"),
    "budget_alerts": ("UPDATE", "DELETE", "TRUNCATE"),
    "contract_prices": ("DELETE", "TRUNCATE"),
    "events": ("UPDATE", "DELETE", "TRUNCATE"),
    "repairs": ("DELETE", "TRUNCATE"),
    "hour_closes": ("DELETE", "TRUNCATE"),
    "ledger_accounts": ("UPDATE", "DELETE", "TRUNCATE"),
    "ledger_transfers": ("UPDATE", "DELETE", "TRUNCATE"),
    "month_proofs": ("UPDATE", "DELETE", "TRUNCATE"),
    "operations": ("DELETE", "TRUNCATE"),
    "operation_steps": ("DELETE", "TRUNCATE"),
    "prices": ("DELETE", "TRUNCATE"),
    "project_accounts": ("UPDATE", "DELETE", "TRUNCATE"),
    "usage_charges": ("UPDATE", "DELETE", "TRUNCATE"),
    "usage_credits": ("UPDATE", "DELETE", "TRUNCATE"),
    "usage_intervals": ("DELETE", "TRUNCATE"),
}
"""Privileges on tables that the application never has, so that it cannot rewrite what happened."""

FACTS = {
    "audit_log": ("operation", "method", "project_id", "account_id", "address", "agent", "request_id", "created_at"),
    "billing_months": ("month", "opened_at", "sealed_at"),
    "contract_prices": ("account_id", "sku", "region", "currency", "unit_price", "valid_from"),
    "repairs": ("rule", "object_id", "detail", "action", "requested_by", "started_at"),
    "prices": ("sku", "region", "currency", "unit_price", "valid_from"),
    "usage_intervals": (
        "resource_id",
        "flavor",
        "sku",
        "region",
        "currency",
        "quantity",
        "credited",
        "anchor_at",
        "started_at",
    ),
}
"""Columns that it cannot update in tables of which it updates others."""


OWN = "project_id = (SELECT tenant_id())"
_PAYING = "account_id = (SELECT payer_id())"
_PAYERS = "SELECT paying.account_id FROM project_accounts AS paying WHERE paying.project_id = (SELECT tenant_id())"
_PAID = f"account_id IN ({_PAYERS})"
_PAYEE = "(SELECT payer_id()) IS NOT NULL AND {} IN (SELECT payees())"
OF_PAYEES = ("clusters", "resources", "usage_credits", "usage_intervals")
"""Tables of whose rows a payer reads those of all projects that it pays for."""

OF_CLUSTERS = {"clusters": "id", "operations": "cluster_id", "events": "subject_id"}
"""Tables whose rows the project's lists show, with the cluster that they belong to. What else belongs to a cluster is
found only by its path.
"""

PARTICULAR = {
    "projects": f"id = (SELECT tenant_id()) OR {_PAYEE.format('id')}",
    "tokens": f"{OWN} OR id = (SELECT tenant_token()) OR {_PAYING}",
    "browser_sessions": "token_id = (SELECT tenant_token())",
    "users": "EXISTS (SELECT FROM tokens WHERE tokens.owner_id = users.id)",
    "billing_accounts": f"id IN ({_PAYERS}) OR id = (SELECT payer_id())",
    # Also when others pay for them by now, which decides who pays.
    "project_accounts": f"{OWN} OR {_PAYEE.format('project_id')}",
    "ledger_accounts": "owner_id = (SELECT payer_id())",
    # Whether a document has lines of other projects decides who may see it.
    "invoice_lines": "EXISTS (SELECT FROM invoices WHERE invoices.id = invoice_id)",
    "invoice_settlements": "EXISTS (SELECT FROM invoices WHERE invoices.id = invoice_id)",
    "invoice_taxes": "EXISTS (SELECT FROM invoices WHERE invoices.id = invoice_id)",
    "credit_notes": "EXISTS (SELECT FROM invoices WHERE invoices.id = invoice_id)",
    "promo_credit_uses": "EXISTS (SELECT FROM promo_credits WHERE promo_credits.id = credit_id)",
    "budget_thresholds": "EXISTS (SELECT FROM budgets WHERE budgets.id = budget_id)",
    "budget_alerts": "EXISTS (SELECT FROM budgets WHERE budgets.id = budget_id)",
}
"""Which rows of a table a tenant sees, where `visible` does not follow from its columns."""

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
    "resources",
    "usage_charges",
    "usage_credits",
    "usage_days",
    "usage_intervals",
)
"""Tables of which a change reads rows of other projects, too: hardware, queues for it, and what their payer spends."""
OF_ALL = (
    *("health_reports", "hosts", "machines", "observations", "pods", "prices", "vipu_controllers"),
    *("billing_months", "day_rollups", "dirty_hours", "hour_closes", "invoiced_months", "sellers", "tax_rates"),
)
"""Tables without rows of tenants that their reads need: hardware, the price list, and how far the books are closed."""

FUNCTIONS = (
    """
    CREATE FUNCTION tenant_id() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('ipucloud.tenant', true), '')::uuid $$
    """,
    """
    CREATE FUNCTION tenant_token() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('ipucloud.tenant_token', true), '')::uuid $$
    """,
    """
    CREATE FUNCTION payer_id() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('ipucloud.payer', true), '')::uuid $$
    """,
    """
    CREATE FUNCTION changed_project() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('ipucloud.changed_project', true), '')::uuid $$
    """,
    """
    CREATE FUNCTION changed_account() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('ipucloud.changed_account', true), '')::uuid $$
    """,
    """
    CREATE FUNCTION reached_clusters() RETURNS uuid[] LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('ipucloud.clusters', true), '')::uuid[] $$
    """,
)
"""Who reads: the project, the token that authenticated the request, the billing account; what a request changes; and
the clusters that the token is limited to, or NULL.
"""

ROLE = f"""
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{TENANT_ROLE}') THEN
    CREATE ROLE {TENANT_ROLE} NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
  END IF;
  IF NOT pg_has_role('{APP_ROLE}', '{TENANT_ROLE}', 'MEMBER') THEN
    GRANT {TENANT_ROLE} TO {APP_ROLE};
  END IF;
END $$
"""
REACHED = "set_config('ipucloud.clusters', coalesce((SELECT clusters::text FROM principal), ''), true)"
"""Selected after the CTE `principal`, has the rest of the transaction see and change only the token's clusters."""
ENTERED = f"""
set_config('ipucloud.tenant', coalesce((SELECT project_id::text FROM project), ''), true) AS tenant,
set_config('ipucloud.tenant_token', coalesce((SELECT token_id::text FROM principal), ''), true) AS token,
{REACHED} AS reached,
set_config('role', '{TENANT_ROLE}', true) AS role
"""  # noqa: S608  # our own text
"""Selected after the CTEs of `identity.access`, makes the rest of the transaction a tenant's."""


def visible(table: sa.Table) -> str | None:
    """The condition for a row to be shown to a tenant; None for a table without rows of tenants."""
    condition = _visible_to_all(table)
    return f"({condition}) AND {_reached(table)}" if table.name in OF_CLUSTERS else condition


def _reached(table: sa.Table) -> str:
    """Where a token that is limited to clusters has nothing to do with a row, this is not true."""
    ids = f"{OF_CLUSTERS[table.name]} = ANY ((SELECT reached_clusters())::uuid[])"
    return f"((SELECT reached_clusters()) IS NULL OR {ids})"


def _visible_to_all(table: sa.Table) -> str | None:
    if table.name in PARTICULAR:
        return PARTICULAR[table.name]
    of_project, of_account = "project_id" in table.columns, "account_id" in table.columns
    if of_project and of_account:
        return f"{OWN} OR project_id IS NULL AND {_PAID} OR {_PAYING}"
    if of_project:
        return f"{OWN} OR {_PAYEE.format('project_id')}" if table.name in OF_PAYEES else OWN
    return f"{_PAID} OR {_PAYING}" if of_account else None


def changeable(table: sa.Table) -> str | None:
    """The condition for a row to be changed by a request about a project or account; None: any request may change it.

    Work items may be anybody's: a change wakes what it concerns. Events may be about more than a cluster.
    """
    project = "id" if table.name == "projects" else "project_id"
    account = "id" if table.name == "billing_accounts" else "account_id"
    conditions = []
    if project in table.columns and table.name != "work":
        unowned = f" OR {project} IS NULL" if table.columns[project].nullable else ""
        conditions.append(f"(SELECT changed_project()) IS NULL OR {project} = (SELECT changed_project()){unowned}")
    if account in table.columns and table.name != "project_accounts":
        conditions.append(f"(SELECT changed_account()) IS NULL OR {account} = (SELECT changed_account())")
    if table.name in OF_CLUSTERS and table.name != "events":
        conditions.append(_reached(table)[1:-1])
    return " AND ".join(f"({each})" for each in conditions) or None


def policies(table: sa.Table) -> dict[str, str]:
    """What makes the policies of a table, by their names: which rows the platform, a tenant and a change reach."""
    condition, changed = visible(table), changeable(table)
    if condition is None:
        return {}
    rules = {
        "platform": f"TO {APP_ROLE}, CURRENT_USER USING (true) WITH CHECK (true)",
        "tenant": f"FOR SELECT TO {TENANT_ROLE} USING ({condition})",
    }
    if changed is not None and table.name in JUDGED_TOGETHER:
        restrictive = f"AS RESTRICTIVE FOR {{}} TO {APP_ROLE} {{}} ({changed})"
        rules["inserts"] = restrictive.format("INSERT", "WITH CHECK")
        rules["updates"] = restrictive.format("UPDATE", "USING")
        rules["deletes"] = restrictive.format("DELETE", "USING")
    elif changed is not None:
        rules["changes"] = f"AS RESTRICTIVE TO {APP_ROLE} USING ({changed})"
    return rules


def _statements(table: sa.Table) -> Iterator[str]:
    rules = policies(table)
    if rules:
        yield f"ALTER TABLE {table.name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
    for name, rule in rules.items():
        yield f"CREATE POLICY {name} ON {table.name} {rule}"


@sa.event.listens_for(metadata, "before_create")
def _make_role(_metadata: object, connection: sa.Connection, **_options: object) -> None:
    for statement in (ROLE, *FUNCTIONS):
        connection.exec_driver_sql(statement)


@sa.event.listens_for(metadata, "after_create")
def _make_policies(_metadata: object, connection: sa.Connection, **_options: object) -> None:
    for table in metadata.sorted_tables:
        for statement in _statements(table):
            connection.exec_driver_sql(statement)
