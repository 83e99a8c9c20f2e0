"""The kinds of trial in which a cluster's hardware is replaced: asked of a worker that dies, and of an API."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from ipucloud.inventory.health.codes import Code
from ipucloud.inventory.health.reports import clear
from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.requests import ApiRequest, RequestKind

_REPORTS = """
SELECT id FROM health_reports r
 WHERE cleared_at IS NULL AND code IN ('replaced', 'maintenance')
   AND NOT EXISTS (SELECT FROM allocations a
                    WHERE (a.machine_id = r.machine_id OR a.host_id = r.host_id) AND a.released_at IS NULL)
"""
_MACHINE = """
SELECT min(m.name) FROM machines m JOIN allocations ON machine_id = m.id WHERE cluster_id = :id AND freed_at IS NULL
"""
_SERVER = "SELECT name FROM poplar_servers WHERE cluster_id = :id"


async def a_cluster(lab: Lab) -> UUID:
    """One in use. Hardware that earlier trials replaced or maintained, and no cluster holds, is taken again."""
    for report in await lab.column(_REPORTS):
        async with lab.database.begin() as connection:
            await clear(connection, report_id=report)
    return await lab.an_active_cluster()


class Repair(Kind):
    """A machine and the Poplar server are replaced, the server with its disk."""

    name = "repair"
    hardware: ClassVar[tuple[str, ...]] = (_MACHINE, _SERVER)
    ends: ClassVar[tuple[str, str]] = ("succeeded", "active")

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await a_cluster(lab)
        names = [await lab.value(which, id=cluster) for which in self.hardware]
        accepted = await lab.replace_hardware(cluster, *names, reason="maintenance")
        return Expectation(cluster, accepted, *self.ends)


class UndoRepair(Repair):
    """One that the site refuses when it has taken another machine."""

    name = "undo-repair"
    hardware = (_MACHINE,)
    after = "operation.undo_appended"
    ends = ("failed", "suspended")

    async def ask(self, lab: Lab) -> Expectation:
        expectation = await super().ask(lab)
        lab.fault(call="admin.CreateAllocation", action="status", grpc_status="INVALID_ARGUMENT")
        return expectation


class PostRepair(RequestKind):
    """Without a key: asked again, it answers with the repair that runs."""

    name, ends, state = "post-repair", "succeeded", "active"

    async def prepare(self, lab: Lab) -> ApiRequest:
        cluster = await a_cluster(lab)
        await lab.fail(cluster, Code.MAINTENANCE)
        return ApiRequest("POST", f"{lab.base}/clusters/{cluster}:repair")


REPAIR_KINDS: tuple[Kind, ...] = (Repair(), UndoRepair())
REPAIR_REQUESTS: tuple[RequestKind, ...] = (PostRepair(),)
