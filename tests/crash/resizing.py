"""The kinds of trial in which clusters are resized: asked of a worker that dies, and of an API."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.requests import ApiRequest, RequestKind
from tests.crash.victims import Victim

_FLAVORS = {1: "m2000-pod8", 2: "m2000-pod4"}


async def _other_size(lab: Lab, cluster: UUID) -> str:
    """Clusters of the trials grow and shrink by turns."""
    return _FLAVORS[await lab.value("SELECT machines FROM clusters WHERE id = :id", id=cluster)]


class Resize(Kind):
    name = "resize"
    ends: ClassVar[tuple[str, str]] = ("succeeded", "active")

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.an_active_cluster()
        return Expectation(cluster, await lab.resize(cluster, await _other_size(lab, cluster)), *self.ends)


class CancelResize(Resize):
    """Cancelled when its machines are changed and the new size is being set up."""

    name = "cancel-resize"
    after = "operation.cancel_seen"
    ends = ("cancelled", "active")

    async def ask(self, lab: Lab) -> Expectation:
        expectation = await super().ask(lab)
        lab.fault(call="admin.CreateAllocation", action="status", grpc_status="UNAVAILABLE")
        return expectation

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await victim.reached("site.after:admin.CreateAllocation")
        lab.clear_faults()
        assert await lab.cancel(expectation.operation)
        await super().drive(lab, expectation, victim)


class UndoResize(Resize):
    """One that the site refuses once, when its machines are changed; the former size is set up again."""

    name = "undo-resize"
    after = "operation.undo_appended"
    ends = ("failed", "active")

    async def ask(self, lab: Lab) -> Expectation:
        expectation = await super().ask(lab)
        lab.fault(call="admin.CreateAllocation", action="status", grpc_status="INVALID_ARGUMENT", times=1)
        return expectation


class SuspendResize(Resize):
    """One that the site refuses always, so that the former size cannot be set up again either."""

    name = "suspend-resize"
    after = "operation.steps_appended"
    ends = ("failed", "suspended")

    async def ask(self, lab: Lab) -> Expectation:
        expectation = await super().ask(lab)
        lab.fault(call="admin.CreateAllocation", action="status", grpc_status="INVALID_ARGUMENT")
        return expectation


class PostResize(RequestKind):
    """Without a key: asked again, it answers with the resize that runs."""

    name, ends, state = "post-resize", "succeeded", "active"

    async def prepare(self, lab: Lab) -> ApiRequest:
        cluster = await lab.an_active_cluster()
        body = {"flavor": await _other_size(lab, cluster)}
        return ApiRequest("POST", f"{lab.base}/clusters/{cluster}:resize", body)


RESIZE_KINDS: tuple[Kind, ...] = (Resize(), CancelResize(), UndoResize(), SuspendResize())
RESIZE_REQUESTS: tuple[RequestKind, ...] = (PostResize(),)
