"""Every rule about the database, in reading order."""

from __future__ import annotations

from ipucloud.invariants import (
    addresses,
    billing,
    billing_credits,
    billing_exports,
    billing_invoices,
    billing_ledger,
    billing_live,
    clusters,
    faults,
    guards,
    log,
    machines,
    operations,
    partitions,
    preemption,
    reservations,
    room,
    tenancy,
    volumes,
    work_items,
)
from ipucloud.invariants.rules import Invariant

INVARIANTS: tuple[Invariant, ...] = (
    *clusters.RULES,
    *faults.RULES,
    *operations.RULES,
    *partitions.RULES,
    *work_items.RULES,
    *machines.RULES,
    *room.RULES,
    *preemption.RULES,
    *reservations.RULES,
    *addresses.RULES,
    *volumes.RULES,
    *billing.RULES,
    *billing_credits.RULES,
    *billing_ledger.RULES,
    *billing_live.RULES,
    *billing_invoices.RULES,
    *billing_exports.RULES,
    *tenancy.RULES,
    *log.RULES,
    *guards.RULES,
)
