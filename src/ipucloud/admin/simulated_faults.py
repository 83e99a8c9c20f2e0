"""Faults of simulated sites, for operators: list, ask for, end."""

from __future__ import annotations

from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.admin.pages import keyed_page
from ipucloud.contract.simulated_faults import SimulatedFaultCreate
from ipucloud.db.documents import clauses, rfc3339
from ipucloud.db.rows import Query
from ipucloud.inventory import simulated_faults

log = structlog.get_logger(__name__)

_FAULTS = """
SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS') || ' ' || id AS key, simulated_faults.*
  FROM simulated_faults
"""
_MEMBERS = f"""
'id', page.id, 'region', page.region, 'kind', page.kind, 'name', page.name, 'link', page.link, 'state', page.state,
'state_entered_at', {rfc3339("page.state_entered_at")}, 'detail', page.detail, 'created_by', page.created_by,
'created_at', {rfc3339("page.created_at")}
"""
LIST_SIMULATED_FAULTS = keyed_page(
    clauses(
        _FAULTS,
        """
        WHERE (CAST(:region AS text) IS NULL OR region = CAST(:region AS text))
          AND (CAST(:ended AS boolean) IS NULL OR (state IN ('ended', 'failed')) = CAST(:ended AS boolean))
        """,
    ),
    _MEMBERS,
)
"""The oldest first. Parameters `:region` and `:ended`, or NULL for all."""
_GET = Query(
    clauses("SELECT json_build_object(", _MEMBERS, ")::text AS document FROM (", _FAULTS, ") AS page WHERE id = :id"),
    str,
)


async def request(connection: AsyncConnection, fault: SimulatedFaultCreate, *, created_by: UUID) -> str:
    """Ask for a fault and return it as JSON. Raises as `inventory.simulated_faults.request`."""
    fault_id = await simulated_faults.request(connection, fault, created_by=created_by)
    log.warning("simulated_fault_requested", fault_id=str(fault_id), kind=fault.kind, name=fault.name)
    return await _GET.one(connection, {"id": fault_id})


async def end(connection: AsyncConnection, fault_id: UUID) -> str:
    """Have a fault repaired and return it as JSON. Raises as `inventory.simulated_faults.end`."""
    await simulated_faults.end(connection, fault_id)
    return await _GET.one(connection, {"id": fault_id})
