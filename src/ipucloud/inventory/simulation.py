"""Carries out what operators ask a simulated site to break: a worker's task, not a request's."""

from __future__ import annotations

from ipucloud.contract.simulated_faults import SimulatedFaultState
from ipucloud.db.engine import Database
from ipucloud.inventory import simulated_faults
from ipucloud.site.errors import SiteBusy, SiteRefused, SiteUnknown
from ipucloud.site.ports import Simulation


async def carry_out_simulated_faults(simulation: Simulation, database: Database) -> None:
    """Ask the site for each fault that is to begin or end, and record its answer; without one it is asked again.

    Asking twice has the effect of asking once, so that a crash between the answer and its record changes nothing.
    """
    async with database.read() as connection:
        due = await simulated_faults.due(connection)
    for fault in due:
        breaks = fault.state is SimulatedFaultState.REQUESTED
        try:
            await simulation.set_fault(str(fault.id), fault.kind.value, fault.name, fault.link, broken=breaks)
        except SiteRefused as error:
            async with database.begin() as connection:
                await simulated_faults.refused(connection, fault, str(error))
        except (SiteBusy, SiteUnknown) as error:
            async with database.begin() as connection:
                await simulated_faults.waits(connection, fault, f"{error}; it is asked again")
        else:
            async with database.begin() as connection:
                await simulated_faults.reached(connection, fault)
