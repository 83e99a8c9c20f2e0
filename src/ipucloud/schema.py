"""Every table of the product on one MetaData: what migrations are compared with."""

from __future__ import annotations

import ipucloud.billing.accounts.tables
import ipucloud.billing.budgets.tables
import ipucloud.billing.dunning.tables
import ipucloud.billing.exports.tables
import ipucloud.billing.invoices.provider_tables
import ipucloud.billing.invoices.tables
import ipucloud.billing.ledger.proof_tables
import ipucloud.billing.ledger.tables
import ipucloud.billing.metering.tables
import ipucloud.billing.prepaid.tables
import ipucloud.billing.pricing.tables
import ipucloud.billing.reports.tables
import ipucloud.clusters.addresses.tables
import ipucloud.clusters.cost_limits.tables
import ipucloud.clusters.fault_reports.tables
import ipucloud.clusters.idle.tables
import ipucloud.clusters.preemption.tables
import ipucloud.clusters.repairs.tables
import ipucloud.clusters.schedules.tables
import ipucloud.clusters.tables
import ipucloud.clusters.volumes.snapshots.tables
import ipucloud.clusters.volumes.tables
import ipucloud.clusters.waiting.tables
import ipucloud.db.tenancy
import ipucloud.events.tables
import ipucloud.idempotency.tables
import ipucloud.identity.audit_tables
import ipucloud.identity.federated_tables
import ipucloud.identity.tables
import ipucloud.invariants.tables
import ipucloud.inventory.expected.tables
import ipucloud.inventory.health.tables
import ipucloud.inventory.reservation_tables
import ipucloud.inventory.tables
import ipucloud.notifications.tables
import ipucloud.operations.tables
import ipucloud.partitions.tables
import ipucloud.programs.consoles.tables
import ipucloud.programs.jobs.tables
import ipucloud.programs.samples.tables
import ipucloud.programs.services.tables
import ipucloud.programs.terminals.tables
import ipucloud.quotas.tables
import ipucloud.reconcile.tables
import ipucloud.resources.tables
import ipucloud.webhooks.tables  # noqa: F401  # importing a table registers it
from ipucloud.db.base import metadata

__all__ = ["metadata"]
