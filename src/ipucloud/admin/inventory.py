"""The expected inventory: importing and accepting it, what differs; and the history of machines and hosts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.admin.pages import keyed_page
from ipucloud.contract.operator_inventory import ExpectedInventoryOut, HardwareExpectation, InventoryAccept
from ipucloud.db.documents import clauses, rfc3339
from ipucloud.db.rows import Query
from ipucloud.inventory.expected import changes
from ipucloud.inventory.expected.findings import PREVENTING, inventory_facts
from ipucloud.inventory.health.codes import Kind
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem

MOST_FAULTS = 20
"""Faults of a request that are named."""


class _Count(NamedTuple):
    code: str
    number: int


_COUNTS = Query(
    "SELECT code, count(*)::integer AS number FROM inventory_findings WHERE region = :region GROUP BY code ORDER BY 1",
    _Count,
)
_OBSERVED = Query(
    """
    SELECT EXISTS (SELECT FROM observations
                    WHERE region = :region AND source IN ('bmc', 'host') AND finished_at IS NOT NULL) AS observed
    """,
    bool,
)
EXISTS = Query(
    """
    SELECT EXISTS (SELECT FROM machines WHERE :kind = 'machine' AND name = :name)
        OR EXISTS (SELECT FROM hosts WHERE :kind = 'host' AND name = :name)
        OR EXISTS (SELECT FROM shown_hardware WHERE kind = :kind AND name = :name) AS known
    """,
    bool,
)
EXPECTED = keyed_page(
    """
    SELECT concat(kind, ' ', name) AS key, kind, name, serial, model, firmware, rack, pod, slot
      FROM expected_hardware WHERE region = :region
    """,
    """
    'kind', page.kind, 'name', page.name, 'serial', page.serial, 'model', page.model, 'firmware', page.firmware,
    'rack', page.rack, 'pod', page.pod, 'slot', page.slot
    """,
)
FINDINGS = keyed_page(
    f"""
    SELECT concat_ws(' ', f.region, f.kind, f.name, f.code) AS key, f.*,
           f.code IN ({", ".join(repr(code.value) for code in PREVENTING)}) AS prevents,
           CASE f.kind WHEN 'machine' THEN EXISTS (SELECT FROM machines WHERE name = f.name)
                ELSE EXISTS (SELECT FROM hosts WHERE name = f.name) END AS registered
      FROM inventory_findings AS f
     WHERE (CAST(:region AS text) IS NULL OR f.region = CAST(:region AS text))
       AND (CAST(:kind AS text) IS NULL OR f.kind = CAST(:kind AS text))
       AND (CAST(:name AS text) IS NULL OR f.name = CAST(:name AS text))
       AND (CAST(:code AS text) IS NULL OR f.code = CAST(:code AS text))
    """,  # noqa: S608  # our own codes
    f"""
    'region', page.region, 'kind', page.kind, 'name', page.name, 'code', page.code, 'expected', page.expected,
    'shown', page.shown, 'since', {rfc3339("page.since")}, 'registered', page.registered,
    'prevents', page.prevents AND page.registered
    """,
)
_KEY = "concat(to_char({at} AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS'), ' ', {id})"
_RANK = """
coalesce(array_position(ARRAY['allocated', 'reported', '', 'cleared', 'released', 'cleaned', 'freed'], entry.type), 3)
"""
"""Of what happened at the same time: a cluster gets hardware first, and leaves it last."""
_SELECTED = """
 WHERE (CAST(:since AS timestamptz) IS NULL OR at >= CAST(:since AS timestamptz))
   AND (CAST(:type AS text) IS NULL OR type = CAST(:type AS text))
"""


_VALIDATED = """
UNION ALL SELECT 'validated', v.ended_at, v.id, concat_ws(': ', v.result, v.findings), NULL, NULL, NULL, NULL,
                 v.requested_by
  FROM hardware_validations AS v JOIN machines AS object ON object.id = v.machine_id AND object.name = :name
 WHERE v.ended_at IS NOT NULL
"""


def _history(kind: Kind) -> str:
    """Everything that happened to the machine or host `:name`: of each entry when, what, and to whom it belonged."""
    held = f"""
      FROM allocations AS a JOIN {kind}s AS object ON object.id = a.{kind}_id AND object.name = :name
      JOIN projects ON projects.id = a.project_id
      LEFT JOIN clusters ON clusters.project_id = a.project_id AND clusters.id = a.cluster_id
      LEFT JOIN reservations ON reservations.project_id = a.project_id AND reservations.id = a.reservation_id
    """  # our own names
    reports = f"""
      FROM health_reports AS r JOIN {kind}s AS object ON object.id = r.{kind}_id AND object.name = :name
      LEFT JOIN clusters ON clusters.id = r.cluster_id LEFT JOIN projects ON projects.id = clusters.project_id
     WHERE r.confirmed_at IS NOT NULL
    """  # our own names
    repairs = """
      FROM scheduled_repairs AS s JOIN clusters ON clusters.project_id = s.project_id AND clusters.id = s.cluster_id
      JOIN projects ON projects.id = s.project_id
     WHERE CAST(:name AS text) = ANY (s.hardware)
    """
    of_repair = "NULL, NULL, projects.slug, s.cluster_id, NULL"
    holder = "coalesce('cluster ' || clusters.name, 'reservation ' || reservations.name)"
    of_cluster = f"a.id, {holder}, NULL, NULL, projects.slug, a.cluster_id, NULL"
    of_report = "r.id, r.detail, r.code, r.source, projects.slug, r.cluster_id, r.created_by"
    return clauses(
        f"SELECT 'allocated' AS type, a.created_at AS at, a.id, {holder} AS detail,",
        "NULL AS code, NULL AS source, projects.slug AS project, a.cluster_id, NULL AS actor",
        held,
        f"UNION ALL SELECT 'released', a.released_at, {of_cluster}",
        held,
        "WHERE a.released_at IS NOT NULL",
        f"UNION ALL SELECT 'freed', a.freed_at, {of_cluster}",
        held,
        "WHERE a.freed_at IS NOT NULL",
        "UNION ALL SELECT 'cleaned', c.observed_at, a.id, c.observed::text, NULL, NULL, projects.slug, a.cluster_id,",
        "NULL",
        held,
        "JOIN hardware_cleanings AS c ON c.allocation_id = a.id",
        f"UNION ALL SELECT 'reported', r.confirmed_at, {of_report}",
        reports,
        f"UNION ALL SELECT 'cleared', r.cleared_at, {of_report}",
        reports,
        "AND r.cleared_at IS NOT NULL",
        f"UNION ALL SELECT 'repair_scheduled', s.announced_at, s.id, s.reason, {of_repair}",
        repairs,
        f"UNION ALL SELECT 'repair_ended', s.ended_at, s.id, s.outcome, {of_repair}",
        repairs,
        "AND s.ended_at IS NOT NULL",
        _VALIDATED if kind == "machine" else "",
        "UNION ALL SELECT type, at, id, detail, NULL, NULL, NULL, NULL, actor FROM hardware_events",
        f"WHERE kind = '{kind}' AND name = :name",
    )


_ENTRY = f"""
'at', {rfc3339("page.at")}, 'type', page.type, 'detail', page.detail, 'code', page.code, 'source', page.source,
'project', page.project, 'cluster', page.cluster_id, 'actor', page.actor
"""
HISTORY = {
    kind: keyed_page(
        clauses(
            "SELECT",
            _KEY.format(at="entry.at", id=f"concat({_RANK}, entry.type, entry.id)"),
            "AS key, entry.* FROM (",
            _history(kind),
            ") AS entry",
            _SELECTED,
        ),
        _ENTRY,
    )
    for kind in ("machine", "host")
}
EVENTS = keyed_page(
    clauses(
        "SELECT",
        _KEY.format(at="at", id="id"),
        "AS key, e.* FROM hardware_events AS e",
        _SELECTED,
        "AND (CAST(:region AS text) IS NULL OR region = CAST(:region AS text))",
        "AND (CAST(:kind AS text) IS NULL OR kind = CAST(:kind AS text))",
    ),
    f"""
    'id', page.id, 'at', {rfc3339("page.at")}, 'region', page.region, 'kind', page.kind, 'name', page.name,
    'type', page.type, 'detail', page.detail, 'actor', page.actor
    """,
)


@dataclass(frozen=True, slots=True)
class Importing:
    """An inventory for a region, and the id of the token of the operator who sends it."""

    region: str
    items: Sequence[HardwareExpectation]
    token: str
    dry_run: bool


async def put_expected(connection: AsyncConnection, importing: Importing) -> ExpectedInventoryOut:
    """Expect exactly these machines and hosts of a region; with `dry_run`, answer what that would change.

    Raises `Problem` validation_failed, with a pointer to each fault; then nothing has changed.
    """
    _refuse(_faults_of(importing.items))
    places = {(item.kind, item.name): place for place, item in enumerate(importing.items)}
    attempt = await connection.begin_nested()
    changed = await changes.replace(
        connection, importing.region, [item.model_dump() for item in importing.items], importing.token
    )
    _refuse(
        [
            FieldError(f"/items/{places[each.kind, each.name]}/serial", "duplicate", _duplicate(each))
            for each in await changes.duplicate_serials(connection, importing.region)
        ]
    )
    answer = await _answer(connection, importing.region, changed, dry_run=importing.dry_run)
    if importing.dry_run:
        await attempt.rollback()
    return answer


async def accept_shown(
    connection: AsyncConnection, region: str, body: InventoryAccept, *, token: str
) -> ExpectedInventoryOut:
    """Expect what the named hardware, or everything, shows.

    In a region without an expected inventory, `everything` starts one with all that its site shows. Raises `Problem`
    validation_failed for names without a finding, and state_conflict for a region that was never observed.
    """
    if body.everything == bool(body.machines or body.hosts):
        raise Problem(VALIDATION_FAILED, "Name machines or hosts, or accept everything; not both.")
    if not await _OBSERVED.one(connection, {"region": region}):
        raise Problem(STATE_CONFLICT, f"Region {region} was never observed: nothing is known to accept.")
    if body.everything:
        await changes.start(connection, region, token)
    names = {"machines": body.machines, "hosts": body.hosts}
    findings = await changes.open_findings(connection, region, **names, everything=body.everything)
    with_finding = {(each.kind, each.name) for each in findings}
    _refuse(
        [
            FieldError(f"/{field}/{place}", "unknown", "No finding is about hardware of this name.")
            for field, each_of in names.items()
            for place, name in enumerate(each_of)
            if (field.removesuffix("s"), name) not in with_finding
        ]
    )
    changed = await changes.accept(connection, region, findings, reason=body.reason, token=token)
    for duplicate in await changes.duplicate_serials(connection, region):
        raise Problem(
            STATE_CONFLICT,
            f"{duplicate.kind} {duplicate.name}: {_duplicate(duplicate)} Accept both, or correct the import.",
        )
    return await _answer(connection, region, changed, dry_run=False)


async def _answer(
    connection: AsyncConnection, region: str, changed: changes.Changed, *, dry_run: bool
) -> ExpectedInventoryOut:
    counts = await _COUNTS.all(connection, {"region": region})
    withheld = {fact.object_id for fact in await inventory_facts(connection, region)}
    return ExpectedInventoryOut(
        region=region,
        dry_run=dry_run,
        **changed._asdict(),
        findings={each.code: each.number for each in counts},
        withheld=len(withheld),
    )


def _faults_of(items: Sequence[HardwareExpectation]) -> Iterator[FieldError]:
    names = Counter((item.kind, item.name) for item in items)
    serials = Counter((item.kind, item.serial) for item in items if item.serial is not None)
    for place, item in enumerate(items):
        for field, sentence in item.faults:
            yield FieldError(f"/items/{place}/{field}", "inconsistent", sentence)
        if names[item.kind, item.name] > 1:
            yield FieldError(f"/items/{place}/name", "duplicate", f"Another {item.kind} has this name too.")
        if item.serial is not None and serials[item.kind, item.serial] > 1:
            yield FieldError(f"/items/{place}/serial", "duplicate", f"Another {item.kind} has this serial number too.")


def _duplicate(hardware: changes.DuplicateSerial) -> str:
    return f"Serial number {hardware.serial} is expected of another {hardware.kind} too."


def _refuse(faults: Iterator[FieldError] | Sequence[FieldError]) -> None:
    errors = [fault for fault, _ in zip(faults, range(MOST_FAULTS), strict=False)]
    if errors:
        raise Problem(VALIDATION_FAILED, "Correct the inventory; nothing was changed.", errors=errors)
