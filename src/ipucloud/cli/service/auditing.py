"""`ipucloud admin audit`: checks, repairs and reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

import sqlalchemy as sa
import typer

from ipucloud.cli import output
from ipucloud.cli.exits import Exit
from ipucloud.cli.service.connections import database_of, sites_of
from ipucloud.cli.service.failures import first_line, stop
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.invariants.audit import OBSERVATIONS, SilentController, audit, audit_sites
from ipucloud.invariants.registry import INVARIANTS
from ipucloud.invariants.repairing import Outcome, Repaired, Repairer, undecided
from ipucloud.invariants.rules import Adjustment, Decision, Finding, Refusal, SiteRemoval
from ipucloud.invariants.site_rules import SITE_RULES
from ipucloud.kernel.clock import SystemClock
from ipucloud.kernel.errors import Problem
from ipucloud.site.ports import SiteError, Sites

FINDINGS = 3
"""Exit status if violations remain."""


Key: TypeAlias = tuple[str, str, str | None, str | None]
"""`Finding.key`."""


@dataclass(frozen=True, slots=True)
class Order:
    """The operator's options."""

    repair: bool
    apply: bool
    with_site: bool
    repair_limit: int
    requested_by: str
    decided: Set[tuple[str, str]]
    reason: str | None


@dataclass(frozen=True, slots=True)
class Report:
    """The findings, what could not be compared, and the results of repairs."""

    order: Order
    findings: Sequence[Finding]
    silent: Sequence[SilentController]
    repaired: Sequence[Repaired] = ()
    previews: Mapping[Key, Sequence[str]] = field(default_factory=dict)

    @property
    def rules(self) -> int:
        return len(INVARIANTS) + (len(SITE_RULES) if self.order.with_site else 0)

    @property
    def status(self) -> int:
        done = {each.finding.key for each in self.repaired if each.outcome is Outcome.REPAIRED}
        if any(finding.key not in done for finding in self.findings):
            return FINDINGS
        return Exit.FAILED if self.silent else 0


@contextmanager
def exit_on_error() -> Iterator[None]:
    """End the command with 1 if the audit fails, so that scripts can tell that from its findings."""
    try:
        yield
    except Problem as error:
        stop(error.detail, Exit.FAILED)
    except SiteError as error:
        stop(f"{error}. Use --database-only to skip the site.", Exit.FAILED)
    except sa.exc.DBAPIError as error:
        stop(f"Is the schema migrated? The database reports: {first_line(error)}", Exit.FAILED)


async def run(settings: Settings, order: Order) -> Report:
    """Raises SiteError, `Problem` unavailable, and DBAPIError when the schema is another version's."""
    async with database_of(settings) as database:
        if not order.with_site:
            return await _report(settings, order, database, None)
        async with sites_of(settings) as sites:
            return await _report(settings, order, database, sites)


async def _report(settings: Settings, order: Order, database: Database, sites: Sites | None) -> Report:
    findings, silent = await audit(database), list[SilentController]()
    if sites is not None:
        compared = await audit_sites(
            database,
            sites,
            call_timeout=settings.site_call_timeout,
            observed_within=OBSERVATIONS * settings.observation_interval,
        )
        findings, silent = [*findings, *compared.findings], [*compared.silent]
    if not order.apply:
        previews = await _previews(database, findings) if order.repair else {}
        return Report(order, findings, silent, previews=previews)
    if any(isinstance(each.rule.repair, SiteRemoval) for each in findings):
        _note(f"Before anything is removed, the site is checked again in {settings.request_life:g} seconds.")
    repairer = Repairer(
        database,
        sites,
        SystemClock(),
        requested_by=order.requested_by,
        request_life=settings.request_life,
        call_timeout=settings.site_call_timeout,
        poll_interval=settings.site_poll_interval,
        repair_limit=order.repair_limit,
        decided=order.decided,
        reason=order.reason,
    )
    return Report(order, findings, silent, await repairer.repair(findings))


async def _previews(database: Database, findings: Sequence[Finding]) -> dict[Key, Sequence[str]]:
    """What the repairs that a person has to decide and give a reason for would post."""
    async with database.read() as connection:
        return {
            finding.key: await finding.rule.repair.preview(connection, finding.violation)
            for finding in findings
            if isinstance(finding.rule.repair, Adjustment)
        }


def document(report: Report) -> dict[str, object]:
    """The report for programs."""
    return {
        "clean": not report.findings and not report.silent,
        "rules": report.rules,
        "site": report.order.with_site,
        "silent_controllers": [each._asdict() for each in report.silent],
        "findings": [_finding(report, finding) for finding in report.findings],
    }


def show(report: Report) -> None:
    """The report for people: findings by rule, with remedies and results."""
    if not report.order.with_site:
        _note("No site was checked.")
    for finding in report.findings:
        rule, violation = finding.rule, finding.violation
        where = f" in {violation.region}" if violation.region else ""
        facts = [
            (rule.name, rule.sentence),
            (rule.object_type, f"{violation.object_id}{where}"),
            ("found", violation.detail),
            ("remedy", rule.remedy),
        ]
        if report.order.repair:
            facts.append(("repair", _detail(report, finding)))
        output.write_facts(facts)
        typer.echo()
    for each in report.silent:
        who = f"V-IPU controller {each.controller} of {each.region}"
        _note(f"{who} was silent: {each.error}. What it has was not compared.")
    all_hold = "no findings in what was compared." if report.silent else "all hold."
    outcome = {0: all_hold, 1: "1 finding."}.get(len(report.findings), f"{len(report.findings)} findings.")
    typer.echo(f"{report.rules} rules: {outcome}")


def _finding(report: Report, finding: Finding) -> dict[str, object]:
    rule, violation, repaired = finding.rule, finding.violation, _repaired(report, finding)
    document: dict[str, object] = {
        "rule": rule.name,
        "sentence": rule.sentence,
        "object_type": rule.object_type,
        "object_id": violation.object_id,
        "project_id": None if violation.project_id is None else str(violation.project_id),
        "region": violation.region,
        "host": violation.host,
        "detail": violation.detail,
        "remedy": rule.remedy,
    }
    if report.order.repair:
        document["repair"] = {
            "outcome": _outcome(finding, repaired),
            "detail": _detail(report, finding),
            "operation_id": None if repaired is None or repaired.operation_id is None else str(repaired.operation_id),
            "entries": list(report.previews.get(finding.key, ())),
        }
    return document


def _repaired(report: Report, finding: Finding) -> Repaired | None:
    return next((each for each in report.repaired if each.finding is finding), None)


def _outcome(finding: Finding, repaired: Repaired | None) -> str:
    if repaired is not None:
        return repaired.outcome.value
    return Outcome.REFUSED.value if isinstance(finding.rule.repair, Refusal | Decision) else "planned"


def _detail(report: Report, finding: Finding) -> str:
    repaired, repair = _repaired(report, finding), finding.rule.repair
    if repaired is not None:
        follow = "" if repaired.operation_id is None else f" Operation {repaired.operation_id} completes the repair."
        return f"{repaired.outcome.capitalize()}. {repaired.sentence}{follow}"
    if isinstance(repair, Refusal):
        return f"Refused. {repair.reason}"
    if isinstance(repair, Decision):
        entries = report.previews.get(finding.key, ())
        return f"Refused. {undecided(finding, repair)}{''.join(f' Would post: {each}.' for each in entries)}"
    twice = ", if a second observation confirms it" if isinstance(repair, SiteRemoval) else ""
    return f"With --apply the audit {repair.does}{twice}."


def _note(sentence: str) -> None:
    typer.echo(sentence, err=True)
