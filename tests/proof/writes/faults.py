"""Writes about faults that customers report: theirs, and the operator's answers."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from tests.proof.writes.write import At, Cases, Setup, created, sent

SAID = {"description": "IPU 3 hangs"}


async def _machine(setup: Setup) -> At:
    """A machine of a cluster."""
    at, cluster = await _cluster(setup)
    return replace(at, path=f"{at.path}/machines/{await setup.world.machine_of(cluster)}")


async def _server(setup: Setup) -> At:
    at, cluster = await _cluster(setup)
    server = await setup.world.value("SELECT id FROM poplar_servers WHERE cluster_id = :id", id=cluster)
    return replace(at, path=f"{at.path}/poplar-servers/{server}")


async def _cluster(setup: Setup) -> tuple[At, UUID]:
    project = await setup.project()
    cluster = (await setup.world.customer(project).create()).target_id
    return At(f"/v1/projects/{project.slug}/clusters/{cluster}", project.token.secret), cluster


async def _reported(setup: Setup) -> At:
    """A report, as its operator reaches it."""
    at = await created(_machine, ":report-fault", SAID)(setup)
    return At(f"/v1/operator/fault-reports/{at.path.rpartition('/')[2]}", setup.admin.secret)


WRITES: Cases = {
    "reportMachineFault": sent(_machine, "POST", ":report-fault", SAID, {"description": "IPU 2 hangs"}),
    "reportServerFault": sent(_server, "POST", ":report-fault", SAID, {"description": "its disk hangs"}),
    "confirmFaultReport": sent(_reported, "POST", ":confirm", {"answer": "it does"}, {"answer": "another"}),
    "dismissFaultReport": sent(_reported, "POST", ":dismiss", {"reason": "it works"}, {"reason": "another"}),
}
