"""The database roles: one owns the schema and migrates it, one works in it, and one reads for a project."""

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
        "resource_kind",
        "dimension",
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
