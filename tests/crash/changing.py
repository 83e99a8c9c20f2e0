"""The kinds of trial in which a cluster in use is changed: asked of a worker that dies, and of an API that dies."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID, uuid4

from ipucloud.inventory.health.codes import Code
from ipucloud.inventory.health.reports import clear
from ipucloud.operations.store import Accepted
from tests.crash.kinds import Expectation, Kind, busy, refusing
from tests.crash.lab import Lab
from tests.crash.requests import ApiRequest, RequestKind, to_a_cluster
from tests.crash.victims import Victim
from tests.support.factories import make_ssh_key

CANCELLED = "operation.cancel_seen"


class Suspend(Kind):
    name, ends = "suspend", ("succeeded", "suspended")

    async def begin(self, lab: Lab) -> Accepted:
        return await lab.suspend(await lab.an_active_cluster())


class Resume(Kind):
    name = "resume"

    async def begin(self, lab: Lab) -> Accepted:
        return await lab.resume(await lab.a_suspended_cluster())


class CancelResume(Resume):
    """Cancelled when all but its Poplar server is there."""

    name, ends, after = "cancel-resume", ("cancelled", "suspended"), CANCELLED
    fault, cancelled_at = busy("hosts.power"), "hosts.power"


class UndoResume(Resume):
    """One that the site refuses when all but its Poplar server is there."""

    name, ends, after = "undo-resume", ("failed", "suspended"), "site.after:hosts.power"
    fault = refusing("hosts.power")


class Reboot(Kind):
    name = "reboot"

    async def begin(self, lab: Lab) -> Accepted:
        return await lab.restart(await lab.an_active_cluster())


class CancelReboot(Reboot):
    """Cancelled while the site does not carry it out."""

    name, ends, after = "cancel-reboot", ("cancelled", "active"), CANCELLED
    fault, cancelled_at = busy("hosts.power"), "hosts.power"


class UndoReboot(Reboot):
    """One that the site refuses."""

    name, ends, after = "undo-reboot", ("failed", "active"), "site.after:hosts.power"
    fault = refusing("hosts.power")


class Rebuild(Kind):
    name = "rebuild"

    async def begin(self, lab: Lab) -> Accepted:
        return await lab.rebuild(await lab.an_active_cluster())


class CancelRebuild(Rebuild):
    """Cancelled while the site does not carry it out."""

    name, ends, after = "cancel-rebuild", ("cancelled", "active"), CANCELLED
    fault, cancelled_at = busy("hosts.rebuild"), "hosts.rebuild"


class UndoRebuild(Rebuild):
    """One that the site refuses."""

    name, ends, after = "undo-rebuild", ("failed", "active"), "site.after:hosts.rebuild"
    fault = refusing("hosts.rebuild")


class ChangeKeys(Kind):
    name = "change-keys"

    async def begin(self, lab: Lab) -> Accepted:
        cluster, name = await lab.an_active_cluster(), lab.fresh()
        async with lab.database.begin() as connection:
            await make_ssh_key(connection, lab.project.id, name)
        await lab.update(cluster, ssh_keys=[name])
        opened = "SELECT id FROM operations WHERE cluster_id = :id AND finished_at IS NULL"
        return Accepted(await lab.value(opened, id=cluster), cluster)


_FLAVORS = {1: "m2000-pod8", 2: "m2000-pod4"}


async def _other_size(lab: Lab, cluster: UUID) -> str:
    """Clusters of the trials grow and shrink by turns."""
    return _FLAVORS[await lab.value("SELECT machines FROM clusters WHERE id = :id", id=cluster)]


class Resize(Kind):
    name = "resize"

    async def begin(self, lab: Lab) -> Accepted:
        cluster = await lab.an_active_cluster()
        return await lab.resize(cluster, await _other_size(lab, cluster))


class CancelResize(Resize):
    """Cancelled when its machines are changed and the new size is being set up."""

    name, ends, after = "cancel-resize", ("cancelled", "active"), CANCELLED
    fault = busy("admin.CreateAllocation")

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await victim.reached("site.after:admin.CreateAllocation")
        lab.clear_faults()
        assert await lab.cancel(expectation.operation)
        await super().drive(lab, expectation, victim)


class UndoResize(Resize):
    """One that the site refuses once, when its machines are changed; the former size is set up again."""

    name, ends, after = "undo-resize", ("failed", "active"), "operation.undo_appended"
    fault = refusing("admin.CreateAllocation", times=1)


class SuspendResize(Resize):
    """One that the site refuses always, so that the former size cannot be set up again either."""

    name, ends, after = "suspend-resize", ("failed", "suspended"), "operation.steps_appended"
    fault = refusing("admin.CreateAllocation")


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


async def _whole_cluster(lab: Lab) -> UUID:
    """One in use. Hardware that earlier trials replaced or maintained, and no cluster holds, is taken again."""
    for report in await lab.column(_REPORTS):
        async with lab.database.begin() as connection:
            await clear(connection, report_id=report)
    return await lab.an_active_cluster()


class Repair(Kind):
    """A machine and the Poplar server are replaced, the server with its disk."""

    name = "repair"
    hardware: ClassVar[tuple[str, ...]] = (_MACHINE, _SERVER)

    async def begin(self, lab: Lab) -> Accepted:
        cluster = await _whole_cluster(lab)
        names = [await lab.value(which, id=cluster) for which in self.hardware]
        return await lab.replace_hardware(cluster, *names, reason="maintenance")


class UndoRepair(Repair):
    """One that the site refuses when it has taken another machine."""

    name, ends, after = "undo-repair", ("failed", "suspended"), "operation.undo_appended"
    hardware = (_MACHINE,)
    fault = refusing("admin.CreateAllocation")


async def _repair(lab: Lab) -> ApiRequest:
    cluster = await _whole_cluster(lab)
    await lab.fail(cluster, Code.MAINTENANCE)
    return ApiRequest("POST", f"{lab.base}/clusters/{cluster}:repair")


async def _resize(lab: Lab) -> ApiRequest:
    cluster = await lab.an_active_cluster()
    return ApiRequest("POST", f"{lab.base}/clusters/{cluster}:resize", {"flavor": await _other_size(lab, cluster)})


async def _resume(lab: Lab) -> ApiRequest:
    return ApiRequest("POST", f"{lab.base}/clusters/{await lab.a_suspended_cluster()}:resume", None, str(uuid4()))


CHANGING: tuple[Kind, ...] = (
    *(Suspend(), Resume(), CancelResume(), UndoResume(), Repair(), UndoRepair()),
    *(Reboot(), CancelReboot(), UndoReboot(), Rebuild(), CancelRebuild(), UndoRebuild(), ChangeKeys()),
    *(Resize(), CancelResize(), UndoResize(), SuspendResize()),
)
POST_SUSPEND = RequestKind("post-suspend", to_a_cluster("suspend"), state="suspended")
POST_RESUME = RequestKind("post-resume", _resume)
POST_REPAIR = RequestKind("post-repair", _repair)
POST_REBOOT = RequestKind("post-reboot", to_a_cluster("reboot"))
POST_REBUILD = RequestKind("post-rebuild", to_a_cluster("rebuild", {"disk": "wipe"}))
POST_RESIZE = RequestKind("post-resize", _resize)
CHANGING_REQUESTS = (POST_SUSPEND, POST_RESUME, POST_REPAIR, POST_REBOOT, POST_REBUILD, POST_RESIZE)
