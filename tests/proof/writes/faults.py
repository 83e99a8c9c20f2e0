"""Writes about faults that customers report: theirs, and the operator's answers."""

from __future__ import annotations

from tests.api.support import key
from tests.proof.writes.write import Cases, Setup, Write
from tests.support.factories import Project

SAID = {"description": "IPU 3 hangs"}


async def _of_machine(setup: Setup) -> tuple[Project, str]:
    """A project, and the path at which a machine of its cluster is reported."""
    project = await setup.project()
    cluster = await setup.world.customer(project).create()
    machine = await setup.world.machine_of(cluster.target_id)
    return project, f"/v1/projects/{project.slug}/clusters/{cluster.target_id}/machines/{machine}:report-fault"


async def report_machine_fault(setup: Setup) -> Write:
    project, path = await _of_machine(setup)
    return Write("POST", path, project.token.secret, SAID, {"description": "IPU 2 hangs"}, key())


async def report_server_fault(setup: Setup) -> Write:
    project = await setup.project()
    cluster = await setup.world.customer(project).create()
    server = await setup.world.value("SELECT id FROM poplar_servers WHERE cluster_id = :id", id=cluster.target_id)
    path = f"/v1/projects/{project.slug}/clusters/{cluster.target_id}/poplar-servers/{server}:report-fault"
    return Write("POST", path, project.token.secret, SAID, {"description": "its disk hangs"}, key())


async def _reported(setup: Setup) -> str:
    project, path = await _of_machine(setup)
    return f"/v1/operator/fault-reports/{await setup.id_of(path, SAID, project.token.secret)}"


async def confirm_fault_report(setup: Setup) -> Write:
    path = f"{await _reported(setup)}:confirm"
    return Write("POST", path, setup.admin.secret, {"answer": "it does"}, {"answer": "another"}, key())


async def dismiss_fault_report(setup: Setup) -> Write:
    path = f"{await _reported(setup)}:dismiss"
    return Write("POST", path, setup.admin.secret, {"reason": "it works"}, {"reason": "another"}, key())


WRITES: Cases = {
    "reportMachineFault": report_machine_fault,
    "reportServerFault": report_server_fault,
    "confirmFaultReport": confirm_fault_report,
    "dismissFaultReport": dismiss_fault_report,
}
