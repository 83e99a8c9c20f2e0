"""The worker's periodic tasks; each runs on one worker at a time."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import structlog

from ipucloud.billing.bookkeeping import keep_books
from ipucloud.billing.exports.requests import forget_expired_files
from ipucloud.billing.exports.schedules import serve_schedules
from ipucloud.billing.invoices.payment_port import RECORDED, PaymentPort
from ipucloud.billing.invoices.payments import collect_payments
from ipucloud.billing.proofs.sign import sign_months
from ipucloud.billing.stripe.charges import StripePayments
from ipucloud.billing.stripe.client import StripeClient
from ipucloud.clusters.consoles.store import forget_consoles
from ipucloud.clusters.expiry import delete_expired_clusters, warn_of_expiry
from ipucloud.clusters.idle.stop import suspend_idle
from ipucloud.clusters.leftovers import clean_leftovers
from ipucloud.clusters.operations.replace import replace_hardware
from ipucloud.clusters.preemption.follow import FOLLOW_SECONDS as PREEMPTION_SECONDS
from ipucloud.clusters.preemption.follow import follow_preemptions
from ipucloud.clusters.repairs.start import start_repairs
from ipucloud.clusters.reservations.follow import FOLLOW_SECONDS, follow_reservations
from ipucloud.clusters.samples.store import forget_samples
from ipucloud.clusters.schedules.follow import follow_schedules
from ipucloud.clusters.services.requests import forget_requests
from ipucloud.clusters.stopping import suspend_unpaid
from ipucloud.clusters.terminals.store import forget_terminals
from ipucloud.clusters.trust import ROLL_OUT_SECONDS, roll_out_authorities
from ipucloud.clusters.waiting.serve import SERVE_SECONDS, serve_waiting
from ipucloud.clusters.waiting.tables import SERVE_TASK
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.idempotency import store as idempotency
from ipucloud.identity import audit_log, limits
from ipucloud.invariants.audit import audit, audit_sites
from ipucloud.invariants.gauge import VIOLATIONS
from ipucloud.invariants.registry import INVARIANTS
from ipucloud.invariants.rules import Finding
from ipucloud.invariants.site_rules import SITE_RULES
from ipucloud.inventory.simulation import carry_out_simulated_faults
from ipucloud.inventory.sync import sync
from ipucloud.kernel.sealing import read_keys
from ipucloud.notifications.store import SWEEP as SWEEP_MAILS
from ipucloud.observation.reconciler import ensure_observation
from ipucloud.operations.freezes import expire_freezes
from ipucloud.reconcile.reconciler import Periodic
from ipucloud.site.ports import Simulation, Sites
from ipucloud.webhooks import store as webhooks
from ipucloud.worker.measures import MEASURE_SECONDS, measure
from ipucloud.worker.reencryption import reencrypt
from ipucloud.worker.sweep import sweep_leftovers

log = structlog.get_logger(__name__)

AUDIT_SECONDS = 60.0
SITE_AUDIT_SECONDS = 300.0


async def sweep_deliveries(database: Database) -> None:
    """Delete the records of old webhook deliveries and e-mails."""
    async with database.begin() as connection:
        await webhooks.sweep(connection)
        await connection.execute(SWEEP_MAILS)


async def end_expired_freezes(database: Database) -> None:
    """End the freezes of removals that have expired, with their events."""
    async with database.begin() as connection:
        expired = await expire_freezes(connection)
    for freeze in expired:
        log.warning("removals_unfrozen", freeze_id=str(freeze.id), region=freeze.region, reason=freeze.reason)


async def audit_database(database: Database) -> None:
    """Check the database against every rule and export the violations."""
    findings = await audit(database)
    VIOLATIONS.report("database", INVARIANTS, findings, interval=AUDIT_SECONDS)
    _report(findings)


async def audit_site(database: Database, sites: Sites, settings: Settings) -> None:
    """Compare the sites with the database and export the violations. Raises SiteError."""
    findings, silent = await audit_sites(database, sites, call_timeout=settings.site_call_timeout)
    VIOLATIONS.report("site", SITE_RULES, findings, interval=SITE_AUDIT_SECONDS)
    _report(findings)
    for each in silent:
        log.warning("controller_not_audited", region=each.region, controller=each.controller, why=each.error)


async def prove_bills(settings: Settings, database: Database) -> None:
    """Sign sealed months. Without a key nothing is signed, and no invoice has a proof."""
    if settings.secrets_key is not None:
        for month in await sign_months(database, read_keys(settings.secrets_key.get_secret_value())):
            log.info("month_signed", month=month.isoformat())


async def prune_audit_log(settings: Settings, database: Database) -> None:
    """Remove entries of the audit log that are old enough, if there is such an age."""
    if settings.audit_log_days is not None and (removed := await audit_log.prune(database, settings.audit_log_days)):
        log.info("audit_log_pruned", removed=removed)


def payment_port(database: Database, settings: Settings) -> PaymentPort:
    """Who collects payments. The key is read anew, so that one in a file can be replaced. Raises OSError."""
    secret = settings.stripe_secret()
    return RECORDED if secret is None else StripePayments(database, StripeClient(settings.stripe_url, secret))


def _report(findings: Iterable[Finding]) -> None:
    for finding in findings:
        seen = finding.violation
        log.error("invariant_violated", rule=finding.rule.name, object=seen.object_id, detail=seen.detail)


def periodic_tasks(sites: Sites, settings: Settings, simulation: Simulation | None = None) -> list[Periodic]:
    """The tasks of a worker; without a `simulation` none of them breaks anything at a site."""

    async def sync_inventory(database: Database) -> None:
        await sync(database, sites, validated="intake" in settings.validation)
        await ensure_observation(database, settings.observation_interval)

    async def compare(database: Database) -> None:
        await audit_site(database, sites, settings)

    async def sweep(database: Database) -> None:
        await sweep_leftovers(database, sites, call_timeout=settings.site_call_timeout, limit=settings.sweep_limit)

    async def clean(database: Database) -> None:
        await clean_leftovers(database, sites, settings)

    async def expire(database: Database) -> None:
        await warn_of_expiry(database)
        await delete_expired_clusters(database, settings)

    async def suspend(database: Database) -> None:
        await suspend_unpaid(database, settings)

    async def collect(database: Database) -> None:
        await collect_payments(database, payment_port(database, settings))

    async def reseal_secrets(database: Database) -> None:
        if settings.secrets_key is not None:
            await reencrypt(database, read_keys(settings.secrets_key.get_secret_value()))

    simulated = (
        []
        if simulation is None
        else [Periodic("carry_out_simulated_faults", interval=2.0, run=partial(carry_out_simulated_faults, simulation))]
    )
    return [
        *simulated,
        Periodic("audit_database", interval=AUDIT_SECONDS, run=audit_database),
        Periodic("audit_sites", interval=SITE_AUDIT_SECONDS, run=compare),
        Periodic("measure", interval=MEASURE_SECONDS, run=measure),
        Periodic("keep_books", interval=60.0, run=keep_books),
        # Not part of the bookkeeping: a month may have many charges to sign, and a payment provider may be slow.
        Periodic("collect_payments", interval=60.0, run=collect),
        Periodic("prove_bills", interval=60.0, run=partial(prove_bills, settings)),
        Periodic("serve_export_schedules", interval=60.0, run=serve_schedules),
        Periodic("forget_expired_files", interval=600.0, run=forget_expired_files),
        Periodic("delete_expired_clusters", interval=15.0, run=expire),
        Periodic("end_expired_freezes", interval=15.0, run=end_expired_freezes),
        Periodic("start_repairs", interval=5.0, run=partial(start_repairs, settings, replace_hardware)),
        Periodic("follow_schedules", interval=15.0, run=partial(follow_schedules, settings)),
        Periodic(SERVE_TASK, interval=SERVE_SECONDS, run=partial(serve_waiting, settings)),
        Periodic("follow_preemptions", interval=PREEMPTION_SECONDS, run=partial(follow_preemptions, settings)),
        Periodic("roll_out_ssh_authorities", interval=ROLL_OUT_SECONDS, run=roll_out_authorities),
        Periodic(
            "follow_reservations",
            interval=FOLLOW_SECONDS,
            run=partial(follow_reservations, validated="release" in settings.validation),
        ),
        Periodic("suspend_idle_clusters", interval=15.0, run=partial(suspend_idle, settings)),
        Periodic("suspend_unpaid_clusters", interval=15.0, run=suspend),
        Periodic("reseal_secrets", interval=3600.0, run=reseal_secrets),
        Periodic("sweep_idempotency_keys", interval=3600.0, run=idempotency.sweep),
        Periodic("seal_audit_log", interval=15.0, run=audit_log.seal),
        Periodic("prune_audit_log", interval=3600.0, run=partial(prune_audit_log, settings)),
        Periodic("sweep_limits", interval=600.0, run=limits.sweep),
        Periodic("sweep_deliveries", interval=3600.0, run=sweep_deliveries),
        Periodic("forget_consoles", interval=600.0, run=partial(forget_consoles, kept=settings.consoles_kept)),
        Periodic("forget_samples", interval=60.0, run=partial(forget_samples, kept=settings.metrics_kept)),
        Periodic("forget_service_requests", interval=600.0, run=partial(forget_requests, kept=settings.metrics_kept)),
        Periodic("forget_terminals", interval=3600.0, run=forget_terminals),
        Periodic("clean_leftovers", interval=15.0, run=clean),
        Periodic("sweep_leftovers", interval=60.0, run=sweep),
        Periodic("sync_inventory", interval=300.0, run=sync_inventory),
    ]
