"""Checking the database against every rule, and the sites against the database."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.db.engine import Database
from ipucloud.invariants.comparison import compare
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


async def audit_sites(database: Database, sites: Sites, *, call_timeout: float) -> list[Finding]:
    """Violations found by comparing the sites with the database. Raises SiteError, and `Problem` unavailable."""
    comparison = await compare(database, sites, call_timeout)
    return [Finding(rule, violation) for rule in SITE_RULES for violation in list(rule.find(comparison))[:LISTED]]
