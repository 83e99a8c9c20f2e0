"""What operators ask a simulated site to break, as rows; a worker carries them out.

Only hardware of regions whose site says that it is simulated can be asked for.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.simulated_faults import SimulatedFaultCreate, SimulatedFaultKind, SimulatedFaultState
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem, not_found
from ipucloud.kernel.ids import new_id
from ipucloud.site.ports import Simulation, SiteBusy, SiteRefused, SiteUnknown


class SimulatedFault(NamedTuple):
    """A fault that a site is asked for. `name`: of a machine, a host, or for `controllers` a region."""

    id: UUID
    kind: SimulatedFaultKind
    name: str
    link: str | None
    state: SimulatedFaultState


class _Place(NamedTuple):
    region: str
    simulated: bool


_PLACE = Query(
    """
    SELECT place.region, coalesce(s.simulated, false) AS simulated
      FROM (SELECT p.region FROM machines m JOIN pods p ON p.id = m.pod_id
             WHERE m.name = :name AND :kind IN ('machine', 'link')
            UNION ALL SELECT region FROM hosts WHERE name = :name AND :kind = 'host'
            UNION ALL SELECT region FROM site_regions WHERE region = :name AND :kind = 'controllers') AS place (region)
      LEFT JOIN site_regions s ON s.region = place.region
    """,
    _Place,
)
_OPEN_ONE = Query(
    """
    SELECT id FROM simulated_faults
     WHERE kind = :kind AND name = :name AND state NOT IN ('ended', 'failed')
    """,
    UUID,
)
_INSERT = Query(
    """
    INSERT INTO simulated_faults (id, region, kind, name, link, created_by)
    VALUES (:id, :region, :kind, :name, :link, :created_by)
    ON CONFLICT (kind, name) WHERE state NOT IN ('ended', 'failed') DO NOTHING RETURNING id
    """,
    UUID,
)
_STATE = Query("SELECT state FROM simulated_faults WHERE id = :id FOR NO KEY UPDATE", SimulatedFaultState)
_END = sa.text(
    "UPDATE simulated_faults SET state = 'ending', state_entered_at = app_now(), detail = NULL WHERE id = :id"
)
_DUE = Query(
    """
    SELECT id, kind, name, link, state FROM simulated_faults
     WHERE state IN ('requested', 'ending') ORDER BY created_at, id LIMIT 50
    """,
    SimulatedFault,
)
# The state is compared: an end that was asked for meanwhile is not overwritten by the beginning.
_REACHED = sa.text(
    """
    UPDATE simulated_faults
       SET state = CASE state WHEN 'requested' THEN 'in_force' ELSE 'ended' END, state_entered_at = app_now(),
           detail = NULL
     WHERE id = :id AND state = :state
    """
)
_REFUSED = sa.text(
    """
    UPDATE simulated_faults SET state = 'failed', state_entered_at = app_now(), detail = :detail
     WHERE id = :id AND state = :state
    """
)
_WAITS = sa.text("UPDATE simulated_faults SET detail = :detail WHERE id = :id AND state = :state")


async def request(connection: AsyncConnection, fault: SimulatedFaultCreate, *, created_by: UUID) -> UUID:
    """Record what a simulated site should break; the fault's id.

    Raises `Problem`: validation_failed for what is not known, state_conflict when the site is not simulated or has
    this fault already.
    """
    faults = []
    place = await _PLACE.one_or_none(connection, {"kind": fault.kind, "name": fault.name})
    if place is None:
        faults.append(FieldError("/name", "unknown", f"There is no such {_NOUNS[fault.kind]}."))
    if (fault.kind is SimulatedFaultKind.LINK) is not (fault.link is not None):
        what = "Name the link of the machine." if fault.link is None else "Only a fault of a link has one."
        faults.append(FieldError("/link", "does_not_fit_kind", what))
    if place is None or faults:
        raise Problem(VALIDATION_FAILED, "Nothing breaks.", errors=faults)
    if not place.simulated:
        raise Problem(
            STATE_CONFLICT, f"The site of {place.region} is not simulated: its hardware is real, and nothing breaks it."
        )
    fault_id = await _INSERT.one_or_none(
        connection, {"id": new_id(), "region": place.region, "created_by": created_by} | fault.model_dump()
    )
    if fault_id is None:
        other = await _OPEN_ONE.one_or_none(connection, {"kind": fault.kind, "name": fault.name})
        raise Problem(STATE_CONFLICT, f"Simulated fault {other} breaks it already. End that one first.")
    return fault_id


_NOUNS = {
    SimulatedFaultKind.MACHINE: "machine",
    SimulatedFaultKind.LINK: "machine",
    SimulatedFaultKind.HOST: "host",
    SimulatedFaultKind.CONTROLLERS: "region",
}


async def end(connection: AsyncConnection, fault_id: UUID) -> None:
    """Have a fault repaired. Repeating has no effect.

    Raises `Problem`: not_found; state_conflict when it has ended or failed.
    """
    state = await _STATE.one_or_none(connection, {"id": fault_id})
    if state is None:
        raise not_found()
    if state in {SimulatedFaultState.ENDED, SimulatedFaultState.FAILED}:
        raise Problem(STATE_CONFLICT, f"Simulated fault {fault_id} has {state} already; nothing is left to do.")
    if state is not SimulatedFaultState.ENDING:
        await connection.execute(_END, {"id": fault_id})


async def due(connection: Statements) -> list[SimulatedFault]:
    """What the site must still be asked for, oldest first."""
    return list(await _DUE.all(connection))


async def reached(connection: AsyncConnection, fault: SimulatedFault) -> None:
    """The site has done what the fault's state asked for."""
    await connection.execute(_REACHED, {"id": fault.id, "state": fault.state})


async def refused(connection: AsyncConnection, fault: SimulatedFault, detail: str) -> None:
    """The site will never do it."""
    await connection.execute(_REFUSED, {"id": fault.id, "state": fault.state, "detail": detail})


async def waits(connection: AsyncConnection, fault: SimulatedFault, detail: str) -> None:
    """The site has not said that it did it; it is asked again."""
    await connection.execute(_WAITS, {"id": fault.id, "state": fault.state, "detail": detail})


async def carry_out_simulated_faults(simulation: Simulation, database: Database) -> None:
    """Ask the site for each fault that is to begin or end, and record its answer; without one it is asked again.

    Asking twice has the effect of asking once, so that a crash between the answer and its record changes nothing.
    """
    async with database.read() as connection:
        faults = await due(connection)
    for fault in faults:
        breaks = fault.state is SimulatedFaultState.REQUESTED
        try:
            await simulation.set_fault(str(fault.id), fault.kind.value, fault.name, fault.link, broken=breaks)
        except SiteRefused as error:
            async with database.begin() as connection:
                await refused(connection, fault, str(error))
        except (SiteBusy, SiteUnknown) as error:
            async with database.begin() as connection:
                await waits(connection, fault, f"{error}; it is asked again")
        else:
            async with database.begin() as connection:
                await reached(connection, fault)
