"""Writes about faults that customers report: theirs, and the operator's answers."""

from __future__ import annotations

from tests.api.support import key
from tests.proof.writes.office import Cases, Office, Write
from tests.support.factories import Project

SAID = {"description": "IPU 3 hangs"}


async def _of_machine(office: Office) -> tuple[Project, str]:
    """A project, and the path at which a machine of its cluster is reported."""
    project = await office.project()
    made = await office.world.customer(project).create()
    machine = await office.world.machine_of(made.target_id)
    return project, f"/v1/projects/{project.slug}/clusters/{made.target_id}/machines/{machine}:report-fault"


async def report_machine_fault(office: Office) -> Write:
    project, path = await _of_machine(office)
    return Write("POST", path, project.token.secret, SAID, {"description": "IPU 2 hangs"}, key())


async def report_server_fault(office: Office) -> Write:
    project = await office.project()
    made = await office.world.customer(project).create()
    server = await office.world.value("SELECT id FROM poplar_servers WHERE cluster_id = :id", id=made.target_id)
    path = f"/v1/projects/{project.slug}/clusters/{made.target_id}/poplar-servers/{server}:report-fault"
    return Write("POST", path, project.token.secret, SAID, {"description": "its disk hangs"}, key())


async def _reported(office: Office) -> str:
    project, path = await _of_machine(office)
    return f"/v1/operator/fault-reports/{await office.id_of(path, SAID, project.token.secret)}"


async def confirm_fault_report(office: Office) -> Write:
    path = f"{await _reported(office)}:confirm"
    return Write("POST", path, office.admin.secret, {"answer": "it does"}, {"answer": "another"}, key())


async def dismiss_fault_report(office: Office) -> Write:
    path = f"{await _reported(office)}:dismiss"
    return Write("POST", path, office.admin.secret, {"reason": "it works"}, {"reason": "another"}, key())


WRITES: Cases = {
    "reportMachineFault": report_machine_fault,
    "reportServerFault": report_server_fault,
    "confirmFaultReport": confirm_fault_report,
    "dismissFaultReport": dismiss_fault_report,
}
