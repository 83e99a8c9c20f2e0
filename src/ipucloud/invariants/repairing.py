"""Applying repairs: in the database at once, at a site after a second observation. Each one is logged."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.engine import Database
from ipucloud.invariants.audit import audit_sites
from ipucloud.invariants.journal import Entry
from ipucloud.invariants.records import controllers_of
from ipucloud.invariants.removals import remove
from ipucloud.invariants.rules import (
    Adjustment,
    DatabaseRepair,
    Decision,
    Finding,
    Refusal,
    Refused,
    RepairDone,
    SiteRemoval,
)
from ipucloud.invariants.site_rules import SiteRule
from ipucloud.kernel.clock import Clock
from ipucloud.operations.frozen import blocked_by, frozen
from ipucloud.site.ports import SiteError, Sites, VipuAddress

REPAIR_LIMIT = 5
"""Most repairs at sites in one run. More of them suggest a wrong view of a site or of the database."""

REMOVAL_CHECKS = 30
"""How often a removal checks whether the object is gone."""


class Outcome(StrEnum):
    REPAIRED = "repaired"
    LEFT_TO_WORKER = "left to a worker"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Repaired:
    """The result for one finding. `operation_id`: the operation that does the rest."""

    finding: Finding
    outcome: Outcome
    sentence: str
    operation_id: UUID | None = None


def undecided(finding: Finding, repair: Decision) -> str:
    """Why nothing is repaired before a person has decided, and the command for that."""
    command = repair.command(finding.rule.name, finding.violation.object_id)
    return f"{repair.reason} If the remedy allows it, this {repair.does}: {command}"


@dataclass(frozen=True)
class Repairer:
    """Repairs the findings of an audit. Durations in seconds.

    `request_life` separates the two observations that a removal needs. `requested_by` is logged. `decided`: rule and
    object of what a person has decided to repair, and `reason` why.
    """

    database: Database
    sites: Sites | None
    clock: Clock
    requested_by: str
    request_life: float
    call_timeout: float
    poll_interval: float
    repair_limit: int = REPAIR_LIMIT
    decided: Set[tuple[str, str]] = frozenset()
    reason: str | None = None

    async def repair(self, findings: Sequence[Finding]) -> list[Repaired]:
        """Apply and log the repairs. Raises `Problem` unavailable, and SiteError when the second observation fails."""
        repaired, doomed = [], []
        too_many = self._too_many(findings)
        for finding in findings:
            repair = finding.rule.repair
            if isinstance(repair, Refusal):
                repaired.append(Repaired(finding, Outcome.REFUSED, repair.reason))
            elif isinstance(repair, Decision) and (finding.rule.name, finding.violation.object_id) not in self.decided:
                repaired.append(Repaired(finding, Outcome.REFUSED, undecided(finding, repair)))
            elif too_many is not None and isinstance(finding.rule, SiteRule):
                repaired.append(Repaired(finding, Outcome.REFUSED, too_many))
            elif isinstance(repair, DatabaseRepair):
                repaired.append(await self._repair_database(finding, repair))
            else:
                doomed.append((finding, repair))
        return repaired + await self._remove_all(doomed)

    def _too_many(self, findings: Sequence[Finding]) -> str | None:
        count = sum(isinstance(each.rule, SiteRule) and not isinstance(each.rule.repair, Refusal) for each in findings)
        if count <= self.repair_limit:
            return None
        return (
            f"{count} repairs at sites exceed the limit of {self.repair_limit}. The site's answers, or the"
            " database, may be wrong as a whole. Find out first, then raise the limit with --limit."
        )

    async def _repair_database(self, finding: Finding, repair: DatabaseRepair) -> Repaired:
        entry = Entry(finding, repair.does, self.requested_by)

        async def work(connection: AsyncConnection) -> RepairDone:
            if isinstance(repair, Adjustment) and self.reason is not None:
                done = await repair.adjust(connection, finding.violation, self.reason)
            else:
                done = await repair.run(connection, finding.violation)
            await entry.done(connection, done)
            return done

        try:
            done = await self.database.transact(work)
        except Refused as refusal:
            return Repaired(finding, Outcome.REFUSED, str(refusal))
        except sa.exc.IntegrityError as error:
            reason = f"The database rejected it: {str(error.orig).splitlines()[0]}"
            async with self.database.begin() as connection:
                await entry.failed(connection, reason)
            return Repaired(finding, Outcome.FAILED, reason)
        if done.operation_id is None:
            return Repaired(finding, Outcome.REPAIRED, f"The audit {done.did or repair.does}.")
        return Repaired(finding, Outcome.LEFT_TO_WORKER, f"The audit {repair.does}.", done.operation_id)

    async def _remove_all(self, doomed: Sequence[tuple[Finding, SiteRemoval]]) -> list[Repaired]:
        """Observe again when no earlier request can take effect any more; remove objects found both times."""
        if not doomed or self.sites is None:
            return []
        await self.clock.sleep(self.request_life)
        again = await audit_sites(self.database, self.sites, call_timeout=self.call_timeout)
        seen_again = {each.key for each in again.findings}
        repaired = []
        for finding, repair in doomed:
            if finding.key in seen_again:
                repaired.append(await self._remove(self.sites, finding, repair))
            else:
                repaired.append(Repaired(finding, Outcome.REFUSED, "A second observation did not find it again."))
        return repaired

    async def _remove(self, sites: Sites, finding: Finding, repair: SiteRemoval) -> Repaired:
        entry, region = Entry(finding, repair.does, self.requested_by), finding.violation.region
        async with self.database.begin() as connection:
            if (until := await frozen(connection, region)) is not None:
                return Repaired(finding, Outcome.REFUSED, f"{blocked_by(region or 'every region', until)}.")
            repair_id = await entry.begin(connection)
            controllers = await controllers_of(connection, region)
        error = await self._until_gone(sites, controllers, finding, repair)
        async with self.database.begin() as connection:
            await entry.end(connection, repair_id, error)
        if error is None:
            return Repaired(finding, Outcome.REPAIRED, f"The audit {repair.does}.")
        return Repaired(finding, Outcome.FAILED, error)

    async def _until_gone(
        self, sites: Sites, controllers: Sequence[VipuAddress], finding: Finding, repair: SiteRemoval
    ) -> str | None:
        """None when the site shows that it is gone, otherwise the reason."""
        for _ in range(REMOVAL_CHECKS):
            try:
                if await remove(sites, controllers, repair, finding.violation, call_timeout=self.call_timeout):
                    return None
            except (Refused, SiteError) as error:
                return str(error)
            await self.clock.sleep(self.poll_interval)
        return "The site was asked to remove it but still has it. Audit again in a few minutes."
