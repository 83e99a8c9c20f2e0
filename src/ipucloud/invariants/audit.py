"""Checking the database against every rule, and the sites against the database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.invariants.comparison import Comparison, compare
from ipucloud.invariants.records import read_records
from ipucloud.invariants.registry import INVARIANTS
from ipucloud.invariants.rules import LISTED, Finding, Invariant, violations
from ipucloud.invariants.site_rules import PARTITION_WORKS, SITE_RULES
from ipucloud.site.ports import Sites

OBSERVATIONS = 3
"""Of a region, in whose time a fault of its hardware is surely reported."""
_POLL_SECONDS = 0.2
_NOW = Query("SELECT app_now() AS now", datetime)
_UNREAD = Query(
    """
    SELECT EXISTS (SELECT FROM unnest(CAST(:regions AS text[])) AS named (region)
                    WHERE NOT EXISTS (SELECT FROM observations o
                                       WHERE o.region = named.region AND o.source = 'v-ipu'
                                         AND o.started_at >= :since)) AS unread
    """,
    bool,
)


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


async def audit_sites(
    database: Database, sites: Sites, *, call_timeout: float, observed_within: float = 0.0
) -> SiteAudit:
    """Compare the sites with the database. Raises SiteError, and `Problem` unavailable.

    A machine may have failed a moment ago: a partition in error is a violation unless the next reading of its region
    reports what explains it, or once there was none for `observed_within` seconds.
    """
    comparison = await compare(database, sites, call_timeout)
    regions = sorted({violation.region for violation in PARTITION_WORKS.find(comparison) if violation.region})
    if regions and observed_within:
        await _next_reading(database, regions, observed_within)
        comparison = replace(comparison, after=await read_records(database))
    return SiteAudit(site_findings(comparison), list(silent_controllers(comparison)))


async def _next_reading(database: Database, regions: Sequence[str], seconds: float) -> None:
    """Wait until each region's controllers have been read by an observation that begins from now on."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            async with database.read() as connection:
                unread = {"regions": regions, "since": await _NOW.one(connection)}
            while await _is_unread(database, unread):  # noqa: ASYNC110  # another process reads them
                await asyncio.sleep(_POLL_SECONDS)


async def _is_unread(database: Database, unread: Mapping[str, object]) -> bool:
    async with database.read() as connection:
        return await _UNREAD.one(connection, unread)


def site_findings(comparison: Comparison) -> list[Finding]:
    """At most `LISTED` of each rule."""
    return [Finding(rule, violation) for rule in SITE_RULES for violation in list(rule.find(comparison))[:LISTED]]


def silent_controllers(comparison: Comparison) -> Iterator[SilentController]:
    for region in comparison.census:
        for name, error in region.silent.items():
            yield SilentController(region.region, name, error)
