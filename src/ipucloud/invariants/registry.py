"""Every rule about the database, in reading order."""

from __future__ import annotations

from ipucloud.invariants import (
    billing,
    billing_credits,
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
    reservations,
    room,
    storage,
    tenancy,
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
    *reservations.PREEMPTION_RULES,
    *reservations.RULES,
    *storage.ADDRESS_RULES,
    *storage.RULES,
    *billing.RULES,
    *billing_credits.RULES,
    *billing_ledger.RULES,
    *billing_live.RULES,
    *billing_invoices.RULES,
    *billing_ledger.ROLL_UP_RULES,
    *tenancy.RULES,
    *log.RULES,
    *guards.RULES,
)
