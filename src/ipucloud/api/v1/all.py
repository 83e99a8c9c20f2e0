"""Every noun of version 1, the busiest first: routes are matched in order."""

from __future__ import annotations

from ipucloud.api.nouns import Noun, Nouns, nouns_of
from ipucloud.parts import PROOFS, SCIM, SERVICE_PROXY, STRIPE

_PROJECT = "/v1/projects/*"
_CLUSTER = f"{_PROJECT}/clusters/*"
_BILLING = f"{_PROJECT}/billing"
_ACCOUNT = "/v1/billing/accounts/*"

NOUNS = Nouns(
    (
        Noun("clusters", f"{_PROJECT}/clusters"),
        Noun("cluster_changes", f"{_PROJECT}/clusters"),
        Noun("cluster_operations", _CLUSTER),
        Noun("operations", f"{_PROJECT}/operations"),
        Noun("partitions", f"{_CLUSTER}/partitions"),
        Noun("jobs", f"{_CLUSTER}/jobs"),
        Noun("services", f"{_CLUSTER}/services"),
        *nouns_of(SERVICE_PROXY),
        Noun("consoles", f"{_CLUSTER}/poplar-servers/*/console"),
        Noun("topology", f"{_CLUSTER}/topology", f"{_CLUSTER}/vipu"),
        Noun("fault_reports", f"{_PROJECT}/fault-reports", f"{_CLUSTER}/machines/*", f"{_CLUSTER}/poplar-servers/*"),
        Noun("webhooks", f"{_PROJECT}/webhooks", f"{_ACCOUNT}/webhooks"),
        Noun("metrics", f"{_PROJECT}/metrics", f"{_CLUSTER}/metrics"),
        Noun("billing", "/v1/billing/accounts", f"{_BILLING}/account", f"{_CLUSTER}/charges"),
        Noun("billing_budgets", f"{_PROJECT}/budgets", f"{_ACCOUNT}/budgets"),
        Noun("billing_live", f"{_PROJECT}/prices", f"{_BILLING}/summary", f"{_ACCOUNT}/summary"),
        Noun("billing_dunning", f"{_ACCOUNT}/dunning"),
        *nouns_of(STRIPE),
        Noun("billing_prepaid", f"{_ACCOUNT}/prepaid", f"{_BILLING}/funds"),
        Noun("billing_price_corrections", "/v1/billing/price-corrections"),
        Noun("billing_prices", "/v1/billing/prices"),
        Noun(
            "billing_invoices",
            *(f"{each}/invoices" for each in (_BILLING, _ACCOUNT, "/v1/billing")),
        ),
        *nouns_of(PROOFS),
        Noun(
            "billing_wallet",
            *(f"{_BILLING}/{each}" for each in ("balance", "credits", "top-ups")),
            *(f"{_ACCOUNT}/{each}" for each in ("credits", "payments", "refunds")),
        ),
        Noun("billing_tax", "/v1/billing/seller", "/v1/billing/tax-rates"),
        Noun(
            "events",
            *(f"{each}/{noun}" for each in (_PROJECT, _ACCOUNT, "/v1/operator") for noun in ("events", "cloud-events")),
            "/v1/event-types",
        ),
        Noun("event_stream", *(f"{each}/events/stream" for each in (_PROJECT, _ACCOUNT, "/v1/operator"))),
        Noun("ssh_authority", f"{_PROJECT}/ssh-authority", _CLUSTER),
        Noun("ssh_keys", f"{_PROJECT}/ssh-keys"),
        Noun("s3_connections", f"{_PROJECT}/s3-connections", f"{_ACCOUNT}/s3-connections"),
        Noun("billing_deliveries", f"{_BILLING}/export-schedules", f"{_ACCOUNT}/export-schedules"),
        Noun(
            "billing_exports",
            *(f"{each}/{noun}" for each in (_BILLING, _ACCOUNT) for noun in ("exports", "export-limit")),
        ),
        Noun(
            "billing_reports",
            *(f"{_BILLING}/{each}" for each in ("report", "usage")),
            f"{_ACCOUNT}/report",
            f"{_PROJECT}/usage",
            f"{_CLUSTER}/usage",
        ),
        Noun("tokens", f"{_PROJECT}/tokens"),
        Noun("members", f"{_PROJECT}/members"),
        Noun("invitations", f"{_PROJECT}/invitations", "/v1/invitations"),
        Noun("account_members", f"{_ACCOUNT}/members", f"{_ACCOUNT}/invitations"),
        Noun("me", "/v1/me", "/v1/whoami", "/v1/login"),
        Noun("device_logins", "/v1/login/devices"),
        Noun("notifications", "/v1/me/notifications"),
        Noun("audit_log", f"{_PROJECT}/audit-log", "/v1/operator/audit-log"),
        Noun("platform_tokens", "/v1/tokens"),
        Noun("quotas", f"{_PROJECT}/quotas"),
        Noun("quota_requests", f"{_PROJECT}/quota-requests"),
        Noun("reservations", f"{_PROJECT}/reservations"),
        Noun("volumes", f"{_PROJECT}/volumes"),
        Noun("snapshots", f"{_PROJECT}/snapshots"),
        Noun("addresses", f"{_PROJECT}/addresses"),
        Noun("projects", "/v1/projects"),
        Noun("session", "/v1/session"),
        Noun("sign_in_providers", "/v1/sign-in-providers"),
        Noun("flavors", "/v1/flavors", "/v1/prices"),
        Noun("catalogue", *(f"/v1/{each}" for each in ("hardware", "regions", "images", "tools"))),
        Noun("recipes", "/v1/recipes"),
        Noun(
            "operator.work",
            *(f"/v1/operator/{each}" for each in ("operations", "stuck", "what-is", "requests", "work")),
        ),
        Noun("operator.capacity", "/v1/operator/regions", "/v1/operator/pods"),
        Noun(
            "operator.hardware",
            *(
                f"/v1/operator/{each}"
                for each in (
                    "machines",
                    "hosts",
                    "hardware",
                    "health-reports",
                    "observations",
                    "controllers",
                    "cleanings",
                    "validations",
                )
            ),
        ),
        Noun("operator.safety", *(f"/v1/operator/{each}" for each in ("freezes", "site-findings", "clusters"))),
        Noun("operator.fault_reports", "/v1/operator/fault-reports"),
        Noun("operator.simulated_faults", "/v1/operator/simulated-faults"),
        Noun("operator.quota_requests", "/v1/operator/quota-requests"),
        Noun(
            "operator.inventory",
            "/v1/operator/regions/*/expected-inventory",
            *(f"/v1/operator/{each}" for each in ("inventory-findings", "hardware-events", "machines", "hosts")),
        ),
        *nouns_of(SCIM),
    )
)
