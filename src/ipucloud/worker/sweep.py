"""What sites and database disagree about, and what is done about it without a person.

A worker that freezes between its last check of its lease and its request, for longer than `request_life`, may build
something on machines that are free by then. It cannot build on another customer's machines: the site refuses a port,
machine or host that is taken. A site may also lose what a cluster in use needs.

Both are repaired once two sweeps in a row have found them, so many in a region and hour; nothing while automatic
actions are halted there, or removals are frozen. What no record knows, and what a customer may be using, is left to a
person.
"""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from ipucloud.clusters.metrics import count
from ipucloud.db.engine import Database
from ipucloud.invariants.audit import site_findings
from ipucloud.invariants.comparison import Comparison, compare
from ipucloud.invariants.journal import Entry
from ipucloud.invariants.removals import remove
from ipucloud.invariants.rules import DatabaseRepair, Finding, Refusal, Refused, SiteRemoval
from ipucloud.invariants.sightings import SWEEP, begun, earlier, lately, leave, record_findings
from ipucloud.invariants.site_rules import SiteRule
from ipucloud.inventory.health.observations import automation_halted
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.frozen import FROZEN, frozen
from ipucloud.site.ports import SiteError, Sites
from ipucloud.worker.internal import SWEPT

log = structlog.get_logger(__name__)

SIGHTINGS = 2
"""Sweeps in a row that must have found something before it is repaired."""


async def sweep_leftovers(database: Database, sites: Sites, *, call_timeout: float, limit: int = 16) -> None:
    """Compare sites and database, and repair what was found before too. The next sweep repeats what takes longer.

    Raises SiteError when a site cannot be read, and `Problem` unavailable.
    """
    comparison = await compare(database, sites, call_timeout)
    findings = site_findings(comparison)
    async with database.begin() as connection:
        sightings = await record_findings(connection, [each for each in findings if each.violation.region is not None])
    sweep = _Sweep(database, sites, comparison, call_timeout, limit)
    for finding, times in sightings.items():
        if times >= SIGHTINGS:
            await sweep.resolve(finding)


@dataclass
class _Sweep:
    database: Database
    sites: Sites
    comparison: Comparison
    call_timeout: float
    limit: int

    async def resolve(self, finding: Finding) -> None:
        """Repair it, or record why it is left."""
        failpoint("sweep.leftover_found")
        why = _for_a_person(finding) or await self._hindrance(finding)
        if why is None:
            why = await self._repair(finding)
        if why is not None:
            log.warning("finding_left", rule=finding.rule.name, object=finding.violation.object_id, why=why)
            async with self.database.begin() as connection:
                await leave(connection, finding, why)

    async def _hindrance(self, finding: Finding) -> str | None:
        region = finding.violation.region or ""
        async with self.database.read() as connection:
            if await frozen(connection, region) is not None:
                return f"{FROZEN}."
            if await automation_halted(connection, region):
                return "Automatic actions are halted in the region."
            if await begun(connection, finding) != "running" and await lately(connection, region) >= self.limit:
                return f"{self.limit} repairs were begun in the region within the hour: an operator must check it."
        return None

    async def _repair(self, finding: Finding) -> str | None:
        """None when the repair was requested; otherwise why not."""
        repair = finding.rule.repair
        if isinstance(repair, DatabaseRepair):
            return await self._repair_database(finding, repair)
        return await self._remove(finding, repair) if isinstance(repair, SiteRemoval) else None

    async def _remove(self, finding: Finding, removal: SiteRemoval) -> str | None:
        async with self.database.begin() as connection:
            if await begun(connection, finding) != "running":
                await Entry(finding, removal.does, SWEEP).begin(connection)
                count(connection, SWEPT.labels(finding.rule.name))
        controllers = self.comparison.before.regions[finding.violation.region or ""]
        try:
            gone = await remove(self.sites, controllers, removal, finding.violation, call_timeout=self.call_timeout)
        except (Refused, SiteError) as error:
            return str(error)
        log.warning("leftover_removed", rule=finding.rule.name, object=finding.violation.object_id, gone=gone)
        return None

    async def _repair_database(self, finding: Finding, repair: DatabaseRepair) -> str | None:
        try:
            async with self.database.begin() as connection:
                before = await earlier(connection, finding)
                if before.running:
                    return "A worker repairs it."
                if before.next_at is not None and before.next_at > before.now:
                    times = "once" if before.times == 1 else f"{before.times} times"
                    return f"It was repaired {times} and is found again; next attempt at {before.next_at:%H:%M} UTC."
                done = await repair.run(connection, finding.violation)
                await Entry(finding, repair.does, SWEEP).done(connection, done)
        except Refused as refusal:
            return str(refusal)
        SWEPT.labels(finding.rule.name).inc()
        log.warning("loss_repaired", rule=finding.rule.name, object=finding.violation.object_id)
        return None


def _for_a_person(finding: Finding) -> str | None:
    """Why no sweep repairs it, ever; None: one may."""
    rule = finding.rule
    if isinstance(rule.repair, Refusal):
        return rule.repair.reason
    if not isinstance(rule, SiteRule) or not rule.automatic:
        return "A person must decide: ipucloud admin audit --repair."
    violation = finding.violation
    ours = violation.project_id is not None or violation.recorded
    return None if ours else "It is of no cluster of ours: a person must decide."
