"""What operators do with hardware: maintenance, drain and quarantine are health reports of theirs, which keep new
clusters away; return to service ends them.

A cluster that holds the hardware keeps it. Its row is locked before those of machines and hosts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.admin.hardware import HOLDER
from ipucloud.clusters.faults import settle_cluster
from ipucloud.contract.operator_hardware import MOST_OBJECTS, HardwareSelection
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.inventory.health.codes import Code, Kind, Source
from ipucloud.inventory.health.reports import clear, clear_code, report
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem, not_found

BY_OPERATORS = (Code.MAINTENANCE, Code.DRAIN, Code.QUARANTINE)
"""What a return to service ends. Other reports end when what they say is no longer observed, or are cleared by id."""


class Target(NamedTuple):
    """A machine or host, and the cluster that holds it."""

    kind: str
    id: UUID
    cluster_id: UUID | None


@dataclass(frozen=True, slots=True)
class Order:
    """What an operator reports. `created_by`: the id of the token."""

    code: Code
    reason: str
    expires_at: datetime | None
    created_by: UUID


_TARGETS = Query(
    """
    SELECT 'machine' AS kind, m.id, held.cluster_id
      FROM machines AS m JOIN pods AS p ON p.id = m.pod_id
      LEFT JOIN allocations AS held ON held.machine_id = m.id AND held.freed_at IS NULL
     WHERE m.name = ANY (CAST(:machines AS text[])) OR p.name = ANY (CAST(:pods AS text[]))
        OR p.gw_group = ANY (CAST(:racks AS text[]))
    UNION ALL
    SELECT 'host', h.id, held.cluster_id
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
        HOLDER,
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


class _Holder(NamedTuple):
    """A report's code, and the cluster that holds its object; None: no cluster does."""

    code: str
    project_id: UUID | None
    cluster_id: UUID | None


_HOLDER_NOW = Query(
    """
    SELECT r.code, held.project_id, held.cluster_id
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
    targets = await _targets(connection, selection)
    for target in targets:
        await report(
            connection,
            kind=_kind(target),
            object_id=target.id,
            source=Source.OPERATOR,
            code=order.code,
            detail=order.reason,
            created_by=str(order.created_by),
            expires_at=order.expires_at,
            cluster_id=target.cluster_id,
        )
    return await _changed(connection, targets)


async def return_to_service(connection: AsyncConnection, selection: HardwareSelection) -> str:
    """End operators' reports of every selected object. Raises as `put`."""
    targets = await _targets(connection, selection)
    for target in targets:
        for code in BY_OPERATORS:
            await clear_code(connection, kind=_kind(target), object_id=target.id, source=Source.OPERATOR, code=code)
    return await _changed(connection, targets)


async def clear_report(connection: AsyncConnection, report_id: UUID) -> None:
    """End one report of any source, and what followed from it for the cluster that holds the object.

    Observation reports the same again if it still sees it. Raises `Problem` not_found, and state_conflict for
    `not_clean`: only an observation may end it, because hardware may still carry a customer's data until then.
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
    await clear(connection, report_id=report_id)
    if holder.project_id is not None and holder.cluster_id is not None:
        await settle_cluster(connection, project_id=holder.project_id, cluster_id=holder.cluster_id)


async def _targets(connection: AsyncConnection, selection: HardwareSelection) -> Sequence[Target]:
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


async def _changed(connection: AsyncConnection, targets: Sequence[Target]) -> str:
    return await _CHANGED.one(connection, {"ids": [each.id for each in targets]})


def _kind(target: Target) -> Kind:
    return "machine" if target.kind == "machine" else "host"
