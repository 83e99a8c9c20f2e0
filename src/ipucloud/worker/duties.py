"""Periodic tasks of a worker that combine several packages: audits, hardware, payments, records."""

from __future__ import annotations

from collections.abc import Iterable

import structlog

from ipucloud.billing.invoices.payment_port import RECORDED, PaymentPort
from ipucloud.billing.invoices.payments import collect_payments
from ipucloud.clusters.operations.replace import replace_hardware
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.identity import audit_log
from ipucloud.invariants.audit import OBSERVATIONS, audit, audit_sites
from ipucloud.invariants.gauge import VIOLATIONS
from ipucloud.invariants.registry import INVARIANTS
from ipucloud.invariants.rules import Finding
from ipucloud.invariants.site_rules import SITE_RULES
from ipucloud.inventory.sync import sync
from ipucloud.notifications.store import SWEEP as SWEEP_MAILS
from ipucloud.observation.reconciler import ensure_observation
from ipucloud.operations.freezes import expire_freezes
from ipucloud.parts import STRIPE
from ipucloud.policies.repairs import start_repairs
from ipucloud.site.ports import Sites
from ipucloud.webhooks import store as webhooks
from ipucloud.worker.tasks import AUDIT_SECONDS, SITE_AUDIT_SECONDS

log = structlog.get_logger(__name__)


async def audit_database(database: Database) -> None:
    """Check the database against every rule and export the violations."""
    findings = await audit(database)
    VIOLATIONS.report("database", INVARIANTS, findings, interval=AUDIT_SECONDS)
    _report(findings)


async def audit_site(database: Database, sites: Sites, settings: Settings) -> None:
    """Compare the sites with the database and export the violations. Raises SiteError."""
    findings, silent = await audit_sites(
        database,
        sites,
        call_timeout=settings.site_call_timeout,
        observed_within=OBSERVATIONS * settings.observation_interval,
    )
    VIOLATIONS.report("site", SITE_RULES, findings, interval=SITE_AUDIT_SECONDS)
    _report(findings)
    for each in silent:
        log.warning("controller_not_audited", region=each.region, controller=each.controller, why=each.error)


def _report(findings: Iterable[Finding]) -> None:
    for finding in findings:
        violation = finding.violation
        log.error("invariant_violated", rule=finding.rule.name, object=violation.object_id, detail=violation.detail)


async def sync_inventory(database: Database, sites: Sites, settings: Settings) -> None:
    await sync(database, sites, validated="intake" in settings.validation)
    await ensure_observation(database, settings.observation_interval)


async def begin_repairs(database: Database, settings: Settings) -> None:
    await start_repairs(settings, replace_hardware, database)


async def collect(database: Database, settings: Settings) -> None:
    port: PaymentPort = STRIPE.load("tasks:payment_port")(database, settings) if STRIPE.installed else RECORDED
    await collect_payments(database, port)


async def sweep_deliveries(database: Database) -> None:
    """Delete the records of old webhook deliveries and e-mails."""
    async with database.begin() as connection:
        await webhooks.sweep(connection)
        await connection.execute(SWEEP_MAILS)


async def prune_audit_log(database: Database, settings: Settings) -> None:
    """Remove entries of the audit log that are old enough, if there is such an age."""
    if settings.audit_log_days is not None and (removed := await audit_log.prune(database, settings.audit_log_days)):
        log.info("audit_log_pruned", removed=removed)


async def end_expired_freezes(database: Database) -> None:
    """End the freezes of removals that have expired, with their events."""
    async with database.begin() as connection:
        expired = await expire_freezes(connection)
    for freeze in expired:
        log.warning("removals_unfrozen", freeze_id=str(freeze.id), region=freeze.region, reason=freeze.reason)
