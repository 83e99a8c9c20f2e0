"""Audits, whose result is exported until the next one is overdue."""

from __future__ import annotations

from collections.abc import Iterable

import structlog

from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.invariants.audit import audit, audit_sites
from ipucloud.invariants.gauge import VIOLATIONS
from ipucloud.invariants.registry import INVARIANTS
from ipucloud.invariants.rules import Finding
from ipucloud.invariants.site_rules import SITE_RULES
from ipucloud.site.ports import Sites
from ipucloud.worker.tasks import AUDIT_SECONDS, SITE_AUDIT_SECONDS

log = structlog.get_logger(__name__)


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


def _report(findings: Iterable[Finding]) -> None:
    for finding in findings:
        seen = finding.violation
        log.error("invariant_violated", rule=finding.rule.name, object=seen.object_id, detail=seen.detail)
