"""Every rule held against what a test leaves behind."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache

import sqlalchemy as sa
from psycopg.sql import Literal
from pydantic import ValidationError

from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.contract.event_types.registry import EventType
from ipucloud.db.engine import Database
from ipucloud.invariants.audit import audit, audit_sites
from ipucloud.invariants.registry import INVARIANTS
from ipucloud.invariants.rules import Finding, Invariant
from ipucloud.site.ports import SiteError, Sites
from tests.support.reuse import IN_USE
from tests.support.waiting import PATIENCE

# Whoever moves the clock past a month's end, with no worker that seals months, breaks it.
_BY_THE_CLOCK = frozenset({"month_is_sealed_in_time"})
# Of the schema and its roles, which no test of behaviour changes. Checking it costs as much as all the rest;
# tests/feature/invariants/test_database.py breaks and checks each.
_OF_THE_SCHEMA = frozenset(
    {"references_resolve", "reference_has_an_index", "guards_are_in_force", "application_role_has_no_power"}
)
_RULES = [rule for rule in INVARIANTS if rule.name not in _OF_THE_SCHEMA]
_DATA = sa.text("SELECT DISTINCT type, data::text AS data FROM events")
IN_REGIONS = {
    "cluster": "clusters",
    "partition": "partitions",
    "job": "jobs",
    "service": "services",
    "terminal": "terminals",
    "fault_report": "fault_reports",
    "address": "addresses",
    "snapshot": "snapshots",
    "volume": "volumes",
    "reservation": "reservations",
}
"""Tables of subjects of events that have a region, by `subject_type`."""
_OF_SUBJECT = """
SELECT type FROM events AS e JOIN {0} AS t ON t.project_id = e.project_id AND t.id = e.subject_id
 WHERE e.region IS NULL AND e.subject_type = '{1}'
"""
_WITHOUT_REGION = sa.text(" UNION ".join(_OF_SUBJECT.format(table, name) for name, table in IN_REGIONS.items()))


async def assert_sound(
    database: Database, sites: Sites | None = None, *, call_timeout: float = 10.0, but: Collection[str] = ()
) -> None:
    """Fail with every violation of a rule about rows; `but` names the rules that the test breaks on purpose.

    Fail as well with every event whose data are not what its type says, or that lacks its subject's region. With
    `sites`, the sites are held against the database too.
    """
    findings = await audit(database, _suspected(database))
    if sites is not None:
        findings += await _at_the_sites(database, sites, call_timeout)
    broken = [in_one_line(finding) for finding in findings if finding.rule.name not in {*but, *_BY_THE_CLOCK}]
    broken += await _misshapen(database)
    broken += await _without_region(database)
    assert not broken, "\n".join(["rules are broken:", *broken])


def _suspected(database: Database) -> Sequence[Invariant]:
    """The rules that may be broken. Where the database is used again, one planned statement says which."""
    reusable = IN_USE.get(database.url)
    if reusable is None:
        return _RULES
    broken = reusable.those_with_rows(_statements())
    return [rule for rule in _RULES if rule.name in broken]


@cache
def _statements() -> Mapping[str, str]:
    return statements(_RULES)


def statements(rules: Iterable[Invariant]) -> Mapping[str, str]:
    """What returns each rule's violations, with its parameters as literals."""
    dialect = sa.make_url("postgresql+psycopg://").get_dialect()()
    return {
        rule.name: str(sa.text(rule.statement).compile(dialect=dialect))
        % {name: Literal(value).as_string() for name, value in rule.parameters.items()}
        for rule in rules
    }


async def _at_the_sites(database: Database, sites: Sites, call_timeout: float) -> Sequence[Finding]:
    """What is broken there. On a machine with much else to do a site may not accept a connection in time."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                audited = await audit_sites(database, sites, call_timeout=call_timeout)
                if not audited.silent:
                    return audited.findings
            except SiteError:
                pass
            await asyncio.sleep(0.1)


async def _without_region(database: Database) -> list[str]:
    async with database.read() as connection:
        return [f"{type_}: no region" for type_ in (await connection.execute(_WITHOUT_REGION)).scalars()]


async def _misshapen(database: Database) -> list[str]:
    """Events of a registered type whose data are not what the type says."""
    async with database.read() as connection:
        shown = (await connection.execute(_DATA)).all()
    return [
        f"{row.type}: data {row.data!r} are not of its payload"
        for row in shown
        if row.type in REGISTRY and not _fits(REGISTRY[row.type], row.data)
    ]


def _fits(kind: EventType, data: str) -> bool:
    if kind.payload is None:
        return data == "{}"
    try:
        kind.payload.model_validate_json(data)
    except ValidationError:
        return False
    return True


def in_one_line(finding: Finding) -> str:
    violation = finding.violation
    return f"{finding.rule.name}: {finding.rule.object_type} {violation.object_id}: {violation.detail}"
