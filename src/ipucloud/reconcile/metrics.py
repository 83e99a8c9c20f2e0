"""The engine's metrics."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

CLAIMED = Counter("reconcile_claims", "Work items claimed by this worker")
OUTCOMES = Counter(
    "reconcile_outcomes", "Reconcile passes by kind and outcome: Go, Wait, Done, Retry, Park", ["kind", "outcome"]
)
STALE = Counter("stale_writes_rejected", "Reconcile passes and results dropped because the lease was lost")
REAPED = Counter("lease_expired", "Leases of dead or frozen workers that were freed")
SCHEMA_UNUSABLE = Gauge("schema_unusable", "1 while this worker claims no work because of the database's schema")
CLOCK_SKEW = Gauge("clock_skew_seconds", "How far the database's clock is ahead of this process's")
