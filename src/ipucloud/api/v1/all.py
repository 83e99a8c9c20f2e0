"""Every router of version 1, the busiest first: routes are matched in order."""

from __future__ import annotations

from ipucloud.api.v1 import (
    account_members,
    audit_log,
    billing,
    billing_budgets,
    billing_deliveries,
    billing_dunning,
    billing_events,
    billing_exports,
    billing_invoices,
    billing_live,
    billing_prepaid,
    billing_price_corrections,
    billing_prices,
    billing_reports,
    billing_tax,
    billing_wallet,
    catalogue,
    cluster_operations,
    clusters,
    event_stream,
    events,
    fault_reports,
    flavors,
    identity,
    invitations,
    jobs,
    me,
    members,
    operations,
    overview,
    partitions,
    platform_tokens,
    projects,
    quota_requests,
    quotas,
    session,
    ssh_keys,
    tokens,
    topology,
    usage,
    webhooks,
)
from ipucloud.api.v1.operator import capacity as operator_capacity
from ipucloud.api.v1.operator import events as operator_events
from ipucloud.api.v1.operator import fault_reports as operator_fault_reports
from ipucloud.api.v1.operator import hardware as operator_hardware
from ipucloud.api.v1.operator import inventory as operator_inventory
from ipucloud.api.v1.operator import quota_requests as operator_quota_requests
from ipucloud.api.v1.operator import safety as operator_safety
from ipucloud.api.v1.operator import simulated_faults as operator_simulated_faults
from ipucloud.api.v1.operator import validation as operator_validation
from ipucloud.api.v1.operator import work as operator_work

ROUTERS = tuple(
    noun.routes
    for noun in (
        clusters,
        cluster_operations,
        operations,
        partitions,
        jobs,
        topology,
        fault_reports,
        webhooks,
        usage,
        overview,
        billing,
        billing_budgets,
        billing_live,
        billing_dunning,
        billing_events,
        billing_prepaid,
        billing_price_corrections,
        billing_prices,
        billing_invoices,
        billing_wallet,
        billing_tax,
        events,
        event_stream,
        ssh_keys,
        billing_deliveries,
        billing_exports,
        billing_reports,
        tokens,
        members,
        invitations,
        account_members,
        me,
        audit_log,
        platform_tokens,
        quotas,
        quota_requests,
        projects,
        identity,
        session,
        flavors,
        catalogue,
        operator_work,
        operator_capacity,
        operator_hardware,
        operator_validation,
        operator_safety,
        operator_fault_reports,
        operator_simulated_faults,
        operator_quota_requests,
        operator_events,
        operator_inventory,
    )
)
