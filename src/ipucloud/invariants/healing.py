"""Carrying heals out: mends at once, take-downs after a second look, each one logged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.engine import Database
from ipucloud.invariants.audit import audit_sites
from ipucloud.invariants.journal import Entry
from ipucloud.invariants.rules import Finding, Mend, Mended, Refusal, Refused, TakeDown
from ipucloud.invariants.site_rules import SiteRule
from ipucloud.kernel.clock import Clock
from ipucloud.site.errors import SiteError
from ipucloud.site.ports import Site, Sites, VipuAddress

AT_MOST = 5
"""Heals at sites in one go. More is rather a wrong view of a site, or of the database, than so many left-overs."""

LOOKS = 30
"""How often a take-down looks whether the thing is gone."""

_ADDRESS = sa.text(
    "SELECT vipu_host, vipu_user_port, vipu_admin_port, vipu_secure FROM site_regions WHERE region = :region"
)


class Outcome(StrEnum):
    MENDED = "mended"
    LEFT_TO_WORKER = "left to a worker"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Healed:
    """What became of a finding. `operation_id`: the operation that does the rest."""

    finding: Finding
    outcome: Outcome
    sentence: str
    operation_id: UUID | None = None


@dataclass(frozen=True)
class Healer:
    """Heals what an audit has just found. Durations in seconds.

    `request_life` is how far apart the two looks are that a take-down wants. `requested_by` goes into the log.
    """

    database: Database
    sites: Sites | None
    clock: Clock
    requested_by: str
    request_life: float
    call_timeout: float
    poll_interval: float
    at_most: int = AT_MOST

    async def heal(self, findings: Sequence[Finding]) -> list[Healed]:
        """Raises `Problem` unavailable, and SiteError when the second look fails. What was done till then is logged."""
        healed, doomed = [], []
        too_many = self._too_many(findings)
        for finding in findings:
            heal = finding.rule.heal
            if isinstance(heal, Refusal):
                healed.append(Healed(finding, Outcome.REFUSED, heal.reason))
            elif too_many is not None and isinstance(finding.rule, SiteRule):
                healed.append(Healed(finding, Outcome.REFUSED, too_many))
            elif isinstance(heal, Mend):
                healed.append(await self._mend(finding, heal))
            else:
                doomed.append((finding, heal))
        return healed + await self._take_down_all(doomed)

    def _too_many(self, findings: Sequence[Finding]) -> str | None:
        count = sum(isinstance(each.rule, SiteRule) and not isinstance(each.rule.heal, Refusal) for each in findings)
        if count <= self.at_most:
            return None
        return (
            f"{count} heals at sites at once are more than {self.at_most}: what the site answers, or the database, may"
            " be wrong as a whole. Look first; then allow as many with --at-most."
        )

    async def _mend(self, finding: Finding, mend: Mend) -> Healed:
        entry = Entry(finding, mend.does, self.requested_by)

        async def work(connection: AsyncConnection) -> Mended:
            mended = await mend.run(connection, finding.violation)
            await entry.done(connection, mended)
            return mended

        try:
            mended = await self.database.transact(work)
        except Refused as refusal:
            return Healed(finding, Outcome.REFUSED, str(refusal))
        except sa.exc.IntegrityError as error:
            reason = f"The database refuses it: {str(error.orig).splitlines()[0]}"
            async with self.database.begin() as connection:
                await entry.failed(connection, reason)
            return Healed(finding, Outcome.FAILED, reason)
        if mended.operation_id is None:
            return Healed(finding, Outcome.MENDED, f"The audit {mend.does}.")
        return Healed(finding, Outcome.LEFT_TO_WORKER, f"The audit {mend.does}.", mended.operation_id)

    async def _take_down_all(self, doomed: Sequence[tuple[Finding, TakeDown]]) -> list[Healed]:
        """Look a second time, later than any request under way at the first look can live; then take down."""
        if not doomed or self.sites is None:
            return []
        await self.clock.sleep(self.request_life)
        seen_again = {
            found.key for found in await audit_sites(self.database, self.sites, call_timeout=self.call_timeout)
        }
        healed = []
        for finding, heal in doomed:
            if finding.key in seen_again:
                healed.append(await self._take_down(self.sites, finding, heal))
            else:
                healed.append(Healed(finding, Outcome.REFUSED, "A second look did not find it again."))
        return healed

    async def _take_down(self, sites: Sites, finding: Finding, heal: TakeDown) -> Healed:
        entry = Entry(finding, heal.does, self.requested_by)
        async with self.database.begin() as connection:
            heal_id = await entry.begin(connection)
            address = (await connection.execute(_ADDRESS, {"region": finding.violation.region})).one()
        site = sites.at(VipuAddress.of(*address), lambda: self.call_timeout)
        error = await self._until_gone(site, finding, heal)
        async with self.database.begin() as connection:
            await entry.end(connection, heal_id, error)
        if error is None:
            return Healed(finding, Outcome.MENDED, f"The audit {heal.does}.")
        return Healed(finding, Outcome.FAILED, error)

    async def _until_gone(self, site: Site, finding: Finding, heal: TakeDown) -> str | None:
        """None when the site shows that it is gone, else why not."""
        for _ in range(LOOKS):
            try:
                if await heal.run(site, finding.violation):
                    return None
            except (Refused, SiteError) as error:
                return str(error)
            await self.clock.sleep(self.poll_interval)
        return "The site was asked to remove it and still has it. Audit again in some minutes."
