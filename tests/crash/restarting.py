"""The kinds of trial in which Poplar servers are restarted: asked of a worker that dies, and of an API."""

from __future__ import annotations

from typing import ClassVar

from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.requests import ApiRequest, RequestKind
from tests.crash.victims import Victim


class Reboot(Kind):
    name = "reboot"
    ends: ClassVar[tuple[str, str]] = ("succeeded", "active")

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.an_active_cluster()
        return Expectation(cluster, await lab.restart(cluster), *self.ends)


class CancelReboot(Reboot):
    """Cancelled while the site does not carry it out."""

    name = "cancel-reboot"
    after = "operation.cancel_seen"
    ends = ("cancelled", "active")

    async def ask(self, lab: Lab) -> Expectation:
        expectation = await super().ask(lab)
        lab.fault(call="hosts.power", action="status", status=503)
        return expectation

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await victim.reached("site.after:hosts.power")
        assert await lab.cancel(expectation.operation)
        await super().drive(lab, expectation, victim)


class UndoReboot(Reboot):
    """One that the site refuses."""

    name = "undo-reboot"
    after = "site.after:hosts.power"
    ends = ("failed", "active")

    async def ask(self, lab: Lab) -> Expectation:
        expectation = await super().ask(lab)
        lab.fault(call="hosts.power", action="status", status=422)
        return expectation


class PostReboot(RequestKind):
    """Without a key: asked again, it answers with the reboot that runs."""

    name, ends, state = "post-reboot", "succeeded", "active"

    async def prepare(self, lab: Lab) -> ApiRequest:
        return ApiRequest("POST", f"{lab.base}/clusters/{await lab.an_active_cluster()}:reboot")


RESTART_KINDS: tuple[Kind, ...] = (Reboot(), CancelReboot(), UndoReboot())
RESTART_REQUESTS: tuple[RequestKind, ...] = (PostReboot(),)
