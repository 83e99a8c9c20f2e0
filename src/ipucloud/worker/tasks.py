"""The worker's periodic tasks; each runs on one worker at a time."""

from __future__ import annotations

from collections.abc import Iterator

from ipucloud.clusters.waiting.tables import SERVE_TASK
from ipucloud.config import Settings
from ipucloud.parts import PARTS
from ipucloud.reconcile.later import LaterTask
from ipucloud.reconcile.reconciler import Periodic
from ipucloud.site.ports import Simulation, Sites
from ipucloud.worker.measures import MEASURE_SECONDS

AUDIT_SECONDS = 60.0
SITE_AUDIT_SECONDS = 300.0


def periodic_tasks(sites: Sites, settings: Settings, simulation: Simulation | None = None) -> list[Periodic]:
    """The tasks of a worker; without a `simulation` none of them breaks anything at a site."""
    return [
        *_of_the_site(sites, settings, simulation),
        *_of_clusters(settings),
        *_of_money(settings),
        *_of_records(settings),
        *_of_parts(settings),
    ]


def _task(name: str, interval: float, place: str, **arguments: object) -> Periodic:
    """`place`: the function of this product that it runs, which is imported by then, as `LaterTask` names it."""
    return Periodic(name, interval, LaterTask(f"ipucloud.{place}", **arguments))


def _of_the_site(sites: Sites, settings: Settings, simulation: Simulation | None) -> Iterator[Periodic]:
    there = {"sites": sites, "settings": settings}
    if simulation is not None:
        name = "carry_out_simulated_faults"
        yield _task(name, 2.0, f"inventory.simulated_faults:{name}", simulation=simulation)
    yield _task("audit_database", AUDIT_SECONDS, "worker.duties:audit_database")
    yield _task("audit_sites", SITE_AUDIT_SECONDS, "worker.duties:audit_site", **there)
    yield _task("measure", MEASURE_SECONDS, "worker.measures:measure")
    yield _task("start_repairs", 5.0, "worker.duties:begin_repairs", settings=settings)
    yield _task("clean_leftovers", 15.0, "policies.leftovers:clean_leftovers", **there)
    timeout, limit = settings.site_call_timeout, settings.sweep_limit
    yield _task("sweep_leftovers", 60.0, "worker.sweep:sweep_leftovers", sites=sites, call_timeout=timeout, limit=limit)
    yield _task("sync_inventory", 300.0, "worker.duties:sync_inventory", **there)


def _of_clusters(settings: Settings) -> Iterator[Periodic]:
    released = "release" in settings.validation
    yield _task("delete_expired_clusters", 15.0, "policies.expiry:expire", settings=settings)
    yield _task("follow_schedules", 15.0, "policies.schedules:follow_schedules", settings=settings)
    yield _task(SERVE_TASK, 15.0, "policies.waiting:serve_waiting", settings=settings)
    yield _task("follow_preemptions", 2.0, "policies.preemption:follow_preemptions", settings=settings)
    yield _task("roll_out_ssh_authorities", 5.0, "policies.authority_rollout:roll_out_authorities")
    yield _task("end_late_builds", 15.0, "clusters.builds:end_late_builds")
    yield _task("follow_reservations", 5.0, "policies.reservations:follow_reservations", validated=released)
    yield _task("suspend_idle_clusters", 15.0, "policies.idle:suspend_idle", settings=settings)
    yield _task("suspend_unpaid_clusters", 15.0, "policies.spend_stops:suspend_unpaid", settings=settings)


def _of_money(settings: Settings) -> Iterator[Periodic]:
    yield _task("keep_books", 60.0, "billing.bookkeeping:keep_books")
    # Not part of the bookkeeping: a month may have many charges to sign, and a payment provider may be slow.
    yield _task("collect_payments", 60.0, "worker.duties:collect", settings=settings)
    yield _task("serve_export_schedules", 60.0, "billing.exports.schedules:serve_schedules")


def _of_parts(settings: Settings) -> Iterator[Periodic]:
    for part in PARTS:
        for place, interval in part.tasks.items() if part.installed else ():
            yield Periodic(place.partition(":")[2], interval, LaterTask(part.module(place), settings=settings))


def _of_records(settings: Settings) -> Iterator[Periodic]:
    """Those that keep or forget them."""
    measured = settings.metrics_kept
    yield _task("forget_expired_files", 600.0, "billing.exports.requests:forget_expired_files")
    yield _task("end_expired_freezes", 15.0, "worker.duties:end_expired_freezes")
    yield _task("reseal_secrets", 3600.0, "worker.reencryption:reseal", settings=settings)
    yield _task("sweep_idempotency_keys", 3600.0, "idempotency.store:sweep")
    yield _task("seal_audit_log", 15.0, "identity.audit_log:seal")
    yield _task("prune_audit_log", 3600.0, "worker.duties:prune_audit_log", settings=settings)
    yield _task("sweep_limits", 600.0, "identity.limits:sweep")
    yield _task("sweep_deliveries", 3600.0, "worker.duties:sweep_deliveries")
    yield _task("forget_consoles", 600.0, "programs.consoles.store:forget_consoles", kept=settings.consoles_kept)
    yield _task("forget_samples", 60.0, "programs.samples.store:forget_samples", kept=measured)
    yield _task("forget_service_requests", 600.0, "programs.services.requests:forget_requests", kept=measured)
    yield _task("forget_terminals", 3600.0, "programs.terminals.store:forget_terminals")
