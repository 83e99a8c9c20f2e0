"""Faults that customers report, without the API."""

from __future__ import annotations

from uuid import UUID

from ipucloud.admin.fault_reports import confirm
from ipucloud.clusters.fault_reports.store import Hardware, open_report
from ipucloud.contract.fault_reports import FaultReportConfirm, FaultReportCreate
from tests.support.world import World


async def make_confirmed(world: World, cluster: UUID, *, ordinal: int = 0) -> UUID:
    """A report about a machine of the cluster that an operator has confirmed."""
    machine = Hardware("machine", await world.machine_of(cluster, ordinal=ordinal))
    async with world.database.begin() as connection:
        report_id = await open_report(
            connection, world.project.actor, cluster, machine, FaultReportCreate(description="it hangs")
        )
        answer = FaultReportConfirm(answer="it does")
        await confirm(connection, report_id, answer, token=world.project.token.id, request_id="test")
    return report_id
