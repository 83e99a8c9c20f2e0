"""Checking the database against every rule, and the sites against the database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ipucloud.db.engine import Database
from ipucloud.invariants.comparison import Comparison, compare
from ipucloud.invariants.registry import INVARIANTS
from ipucloud.invariants.rules import LISTED, Finding, Invariant, violations
from ipucloud.invariants.site_rules import SITE_RULES
from ipucloud.site.ports import Sites


async def audit(database: Database, rules: Sequence[Invariant] = INVARIANTS) -> list[Finding]:
    """Violations of the rules about the database; each rule is checked as of its own instant.

    Raises `Problem` unavailable.
    """
    async with database.read() as connection:
        return [Finding(rule, violation) for rule in rules for violation in await violations(connection, rule)]


class SilentController(NamedTuple):
    """A V-IPU controller that did not answer an audit: what it has was not compared."""

    region: str
    controller: str
    error: str


class SiteAudit(NamedTuple):
    """What an audit of the sites found, and what it could not look at."""

    findings: Sequence[Finding]
    silent: Sequence[SilentController]


async def audit_sites(database: Database, sites: Sites, *, call_timeout: float) -> SiteAudit:
    """Compare the sites with the database. Raises SiteError, and `Problem` unavailable."""
    comparison = await compare(database, sites, call_timeout)
    return SiteAudit(site_findings(comparison), list(silent_controllers(comparison)))


def site_findings(comparison: Comparison) -> list[Finding]:
    """At most `LISTED` of each rule."""
    return [Finding(rule, violation) for rule in SITE_RULES for violation in list(rule.find(comparison))[:LISTED]]


def silent_controllers(comparison: Comparison) -> Iterator[SilentController]:
    for region in comparison.census:
        for name, error in region.silent.items():
            yield SilentController(region.region, name, error)
