"""What operators do with hardware: maintenance, drain and quarantine are health reports of theirs, which keep new
clusters away; return to service ends them.

A cluster that holds the hardware keeps it. Its row is locked before those of machines and hosts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.admin.hardware import USER
from ipucloud.clusters.fault_reports.store import reports_cleared
from ipucloud.clusters.faults import apply_reports
from ipucloud.contract.event_payloads.platform import HardwareOrdered
from ipucloud.contract.event_types.platform import (
    HARDWARE_DRAINED,
    HARDWARE_MAINTAINED,
    HARDWARE_QUARANTINED,
    HARDWARE_RETURNED,
)
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.operator_hardware import MOST_OBJECTS, HardwareSelection
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.events.log import record_for_operators
from ipucloud.inventory.health.codes import CODES, VALIDATED, Code, Kind, Source
from ipucloud.inventory.health.merge import lock
from ipucloud.inventory.health.reports import clear, clear_code, report
from ipucloud.inventory.validations import require, withdraw
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem, not_found

BY_OPERATORS = tuple(
    sorted(
        {code for codes in CODES.values() for code, declared in codes.items() if Source.OPERATOR in declared.sources}
    )
)
"""Codes that operators report: what a return to service ends. Other reports end when what they say is no longer
observed, or are cleared by id."""

_EVENTS: Mapping[Code, EventType] = {
    Code.MAINTENANCE: HARDWARE_MAINTAINED,
    Code.DRAIN: HARDWARE_DRAINED,
    Code.QUARANTINE: HARDWARE_QUARANTINED,
}


class Target(NamedTuple):
    """A machine or host, and the cluster that holds it. `in_use`: its customer has not left it."""

    kind: str
    id: UUID
    name: str
    region: str
    project_id: UUID | None
    cluster_id: UUID | None
    in_use: bool

    @property
    def holder(self) -> tuple[UUID, UUID] | None:
        """Project and cluster that hold it."""
        return None if self.project_id is None or self.cluster_id is None else (self.project_id, self.cluster_id)


@dataclass(frozen=True, slots=True)
class Operator:
    """Who orders something: the id of the token, and of the request."""

    token: UUID
    request_id: str


@dataclass(frozen=True, slots=True)
class Order:
    """What an operator reports: a drain or a quarantine."""

    code: Code
    reason: str
    expires_at: datetime | None
    by: Operator


_TARGETS = Query(
    """
    SELECT 'machine' AS kind, m.id, m.name, p.region, held.project_id, held.cluster_id,
           held.id IS NOT NULL AND held.released_at IS NULL AS in_use
      FROM machines AS m JOIN pods AS p ON p.id = m.pod_id
      LEFT JOIN allocations AS held ON held.machine_id = m.id AND held.freed_at IS NULL
     WHERE m.name = ANY (CAST(:machines AS text[])) OR p.name = ANY (CAST(:pods AS text[]))
        OR p.gw_group = ANY (CAST(:racks AS text[]))
    UNION ALL
    SELECT 'host', h.id, h.name, h.region, held.project_id, held.cluster_id,
           held.id IS NOT NULL AND held.released_at IS NULL
      FROM hosts AS h LEFT JOIN allocations AS held ON held.host_id = h.id AND held.freed_at IS NULL
     WHERE h.name = ANY (CAST(:hosts AS text[]))
    ORDER BY kind DESC, id LIMIT :most
    """,
    Target,
)
_UNKNOWN = Query(
    """
    SELECT field || '/' || place - 1 AS pointer
      FROM (
        SELECT 'machines' AS field, name, place
          FROM unnest(CAST(:machines AS text[])) WITH ORDINALITY AS n (name, place)
         WHERE name NOT IN (SELECT name FROM machines)
        UNION ALL
        SELECT 'hosts', name, place FROM unnest(CAST(:hosts AS text[])) WITH ORDINALITY AS n (name, place)
         WHERE name NOT IN (SELECT name FROM hosts)
        UNION ALL
        SELECT 'pods', name, place FROM unnest(CAST(:pods AS text[])) WITH ORDINALITY AS n (name, place)
         WHERE name NOT IN (SELECT name FROM pods)
        UNION ALL
        SELECT 'racks', name, place FROM unnest(CAST(:racks AS text[])) WITH ORDINALITY AS n (name, place)
         WHERE name NOT IN (SELECT gw_group FROM pods)) AS absent
     ORDER BY pointer
    """,
    str,
)
_LOCK_HOLDERS = sa.text(
    "SELECT id FROM clusters WHERE id = ANY (CAST(:clusters AS uuid[])) ORDER BY id FOR NO KEY UPDATE"
)
_CHANGED = Query(
    clauses(
        """
    SELECT coalesce(json_agg(json_build_object(
             'kind', page.kind, 'name', page.name, 'allocatable', page.allocatable, 'codes', page.codes, 'holder',
        """,
        USER,
        """
           ) ORDER BY page.kind DESC, page.name), '[]')::text AS items
      FROM (
        SELECT object.*, held.id AS held_by, coalesce(live.codes, '{}') AS codes
          FROM (SELECT 'machine' AS kind, id, name, allocatable FROM machines WHERE id = ANY (CAST(:ids AS uuid[]))
                UNION ALL
                SELECT 'host', id, name, allocatable FROM hosts WHERE id = ANY (CAST(:ids AS uuid[]))) AS object
          LEFT JOIN allocations AS held
                 ON object.id IN (held.machine_id, held.host_id) AND held.freed_at IS NULL
          LEFT JOIN LATERAL (
            SELECT array_agg(code ORDER BY code) AS codes FROM health_reports
             WHERE object.id IN (machine_id, host_id) AND cleared_at IS NULL AND confirmed_at IS NOT NULL
          ) AS live ON true) AS page
        """,
    ),
    str,
)


_OPEN_VALIDATIONS = Query(
    "SELECT machine_id FROM hardware_validations WHERE machine_id = ANY (CAST(:machines AS uuid[]))"
    " AND ended_at IS NULL",
    UUID,
)


class _Holder(NamedTuple):
    """A report's code and machine, and the cluster that holds its object; None: no cluster does."""

    code: str
    machine_id: UUID | None
    project_id: UUID | None
    cluster_id: UUID | None


_HOLDER_NOW = Query(
    """
    SELECT r.code, r.machine_id, held.project_id, held.cluster_id
      FROM health_reports AS r
      LEFT JOIN allocations AS held ON held.freed_at IS NULL
            AND (held.machine_id = r.machine_id OR held.host_id = r.host_id)
     WHERE r.id = :report_id
    """,
    _Holder,
)


async def put(connection: AsyncConnection, selection: HardwareSelection, order: Order) -> str:
    """Report the order of every selected object, and return what is true of each then, as JSON.

    Raises `Problem` validation_failed, for unknown names too; then nothing has changed.
    """
    targets = await select(connection, selection)
    for target in targets:
        await report(
            connection,
            kind=kind_of(target),
            object_id=target.id,
            source=Source.OPERATOR,
            code=order.code,
            detail=order.reason,
            created_by=str(order.by.token),
            expires_at=order.expires_at,
            cluster_id=target.cluster_id,
        )
    await record_order(connection, _EVENTS[order.code], targets, order.by, reason=order.reason)
    return await changed(connection, targets)


async def return_to_service(
    connection: AsyncConnection, selection: HardwareSelection, by: Operator, *, validated: bool
) -> str:
    """End operators' reports of every selected object, confirmed faults too. Raises as `put`.

    `validated`: machines that were maintained or in quarantine are validated before clusters get them.
    """
    targets = await select(connection, selection)
    maintained: set[UUID] = set()
    cleared: list[UUID] = []
    for target in targets:
        for code in BY_OPERATORS:
            ended = await clear_code(
                connection, kind=kind_of(target), object_id=target.id, source=Source.OPERATOR, code=code
            )
            if ended is not None:
                cleared.append(ended)
            if ended is not None and code in VALIDATED and kind_of(target) == "machine":
                maintained.add(target.id)
    await reports_cleared(connection, cleared)
    for project_id, cluster_id in sorted({each.holder for each in targets if each.holder is not None}):
        await apply_reports(connection, project_id=project_id, cluster_id=cluster_id)
    if validated and maintained:
        await require(connection, maintained, "repair")
    await record_order(connection, HARDWARE_RETURNED, targets, by)
    return await changed(connection, targets)


async def have_validated(connection: AsyncConnection, selection: HardwareSelection, created_by: UUID) -> str:
    """Have the selected machines validated that no cluster holds, and return what is true of each object then.

    Raises as `put`, and `Problem` state_conflict when there is none.
    """
    targets = await select(connection, selection)
    free = [each.id for each in targets if each.cluster_id is None and kind_of(each) == "machine"]
    await lock(connection, "machine", free)
    await require(connection, free, "operator", requested_by=str(created_by))
    for machine in await _OPEN_VALIDATIONS.all(connection, {"machines": free}):
        await clear_code(
            connection, kind="machine", object_id=machine, source=Source.OPERATION, code=Code.VALIDATION_FAILED
        )
    if not await _OPEN_VALIDATIONS.all(connection, {"machines": free}):
        raise Problem(
            STATE_CONFLICT,
            "Only machines that no cluster holds and that are under a V-IPU controller can be validated. A machine "
            "that a cluster holds is validated when the cluster leaves it.",
        )
    return await changed(connection, targets)


async def clear_report(connection: AsyncConnection, report_id: UUID, *, validated: bool) -> None:
    """End one report of any source, and what followed from it for the cluster that holds the object.

    Observation reports the same again if it still sees it. `validated`: a machine that no cluster holds is validated
    if the report said that it was faulty. Raises `Problem` not_found, and state_conflict for `not_clean`: only an
    observation may end it, because hardware may still carry a customer's data until then; and for `not_validated` once
    the validation has begun.
    """
    holder = await _HOLDER_NOW.one_or_none(connection, {"report_id": report_id})
    if holder is None:
        raise not_found()
    if holder.code == Code.NOT_CLEAN:
        raise Problem(
            STATE_CONFLICT,
            f"Health report {report_id} says that data of a customer may be left on the hardware. It ends by itself "
            "once the hardware was wiped and observed clean; repair the hardware so that it answers.",
        )
    if holder.cluster_id is not None:
        await connection.execute(_LOCK_HOLDERS, {"clusters": [holder.cluster_id]})
    if holder.code == Code.NOT_VALIDATED and holder.machine_id is not None:
        await lock(connection, "machine", [holder.machine_id])
        if not await withdraw(connection, holder.machine_id, "an operator cleared the report"):
            raise Problem(
                STATE_CONFLICT,
                f"Health report {report_id} keeps clusters away while the machine is being validated. It ends by "
                "itself with the validation.",
            )
    await clear(connection, report_id=report_id)
    await reports_cleared(connection, [report_id])
    if validated and holder.machine_id is not None and holder.code in VALIDATED:
        await require(connection, [holder.machine_id], "repair")
    if holder.project_id is not None and holder.cluster_id is not None:
        await apply_reports(connection, project_id=holder.project_id, cluster_id=holder.cluster_id)


async def select(connection: AsyncConnection, selection: HardwareSelection) -> Sequence[Target]:
    """The selected hardware; clusters that hold some are locked. Raises `Problem` validation_failed."""
    names = selection.model_dump(include={"machines", "hosts", "pods", "racks"})
    absent = await _UNKNOWN.all(connection, names)
    if absent:
        faults = [FieldError(f"/{pointer}", "unknown", "No hardware has this name.") for pointer in absent]
        raise Problem(VALIDATION_FAILED, "Correct the names; nothing was changed.", errors=faults)
    targets = await _TARGETS.all(connection, names | {"most": MOST_OBJECTS + 1})
    if not targets:
        raise Problem(VALIDATION_FAILED, "Select at least one machine, host, pod or rack.")
    if len(targets) > MOST_OBJECTS:
        raise Problem(VALIDATION_FAILED, f"Select at most {MOST_OBJECTS} machines and hosts; send several requests.")
    clusters = sorted({each.cluster_id for each in targets if each.cluster_id is not None})
    await connection.execute(_LOCK_HOLDERS, {"clusters": clusters})
    return targets


async def record_order(
    connection: AsyncConnection,
    kind: EventType,
    targets: Iterable[Target],
    by: Operator,
    *,
    reason: str | None = None,
    starts_at: datetime | None = None,
) -> None:
    """Record for operators what one of them ordered, for each region."""
    regions: defaultdict[str, list[Target]] = defaultdict(list)
    for target in targets:
        regions[target.region].append(target)
    for region, of_region in sorted(regions.items()):
        data = HardwareOrdered(
            machines=sorted(each.name for each in of_region if kind_of(each) == "machine"),
            hosts=sorted(each.name for each in of_region if kind_of(each) == "host"),
            reason=reason,
            starts_at=starts_at,
            ordered_by=by.token,
        )
        await record_for_operators(connection, kind, region=region, request_id=by.request_id, data=data)


async def changed(connection: AsyncConnection, targets: Sequence[Target]) -> str:
    """What is true of the hardware now, as JSON."""
    return await _CHANGED.one(connection, {"ids": [each.id for each in targets]})


def kind_of(target: Target) -> Kind:
    """What the target is."""
    return "machine" if target.kind == "machine" else "host"
