"""The kinds of trial in which a cluster is suspended and resumed: asked of a worker that dies, and of an API."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.requests import ApiRequest, RequestKind
from tests.crash.victims import Victim


class Suspend(Kind):
    name = "suspend"

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.an_active_cluster()
        return Expectation(cluster, await lab.suspend(cluster), "succeeded", "suspended")


class Resume(Kind):
    name = "resume"
    ends: ClassVar[tuple[str, str]] = ("succeeded", "active")

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.a_suspended_cluster()
        return Expectation(cluster, await lab.resume(cluster), *self.ends)


class CancelResume(Resume):
    """Cancelled when all but its Poplar server is there."""

    name = "cancel-resume"
    after = "operation.cancel_seen"
    ends = ("cancelled", "suspended")

    async def ask(self, lab: Lab) -> Expectation:
        expectation = await super().ask(lab)
        lab.fault(call="hosts.power", action="status", status=503)
        return expectation

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await victim.reached("site.after:hosts.power")
        assert await lab.cancel(expectation.operation)
        await super().drive(lab, expectation, victim)


class UndoResume(Resume):
    """One that the site refuses when all but its Poplar server is there."""

    name = "undo-resume"
    after = "site.after:hosts.power"
    ends = ("failed", "suspended")

    async def ask(self, lab: Lab) -> Expectation:
        expectation = await super().ask(lab)
        lab.fault(call="hosts.power", action="status", status=422)
        return expectation


class PostSuspend(RequestKind):
    """Without a key: asked again, it answers with the suspend that runs."""

    name, ends, state = "post-suspend", "succeeded", "suspended"

    async def prepare(self, lab: Lab) -> ApiRequest:
        return ApiRequest("POST", f"{lab.base}/clusters/{await lab.an_active_cluster()}:suspend")


class PostResume(RequestKind):
    name, ends, state = "post-resume", "succeeded", "active"

    async def prepare(self, lab: Lab) -> ApiRequest:
        return ApiRequest("POST", f"{lab.base}/clusters/{await lab.a_suspended_cluster()}:resume", None, str(uuid4()))


SUSPEND_KINDS: tuple[Kind, ...] = (Suspend(), Resume(), CancelResume(), UndoResume())
SUSPEND_REQUESTS: tuple[RequestKind, ...] = (PostSuspend(), PostResume())
