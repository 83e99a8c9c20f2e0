"""The kinds of trial in which Poplar servers are rebuilt, or their keys changed."""

from __future__ import annotations

from typing import ClassVar

from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.requests import ApiRequest, RequestKind
from tests.crash.victims import Victim
from tests.support.factories import make_ssh_key


class Rebuild(Kind):
    name = "rebuild"
    ends: ClassVar[tuple[str, str]] = ("succeeded", "active")

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.an_active_cluster()
        return Expectation(cluster, await lab.rebuild(cluster), *self.ends)


class CancelRebuild(Rebuild):
    """Cancelled while the site does not carry it out."""

    name = "cancel-rebuild"
    after = "operation.cancel_seen"
    ends = ("cancelled", "active")

    async def ask(self, lab: Lab) -> Expectation:
        expectation = await super().ask(lab)
        lab.fault(call="hosts.rebuild", action="status", status=503)
        return expectation

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await victim.reached("site.after:hosts.rebuild")
        assert await lab.cancel(expectation.operation)
        await super().drive(lab, expectation, victim)


class UndoRebuild(Rebuild):
    """One that the site refuses."""

    name = "undo-rebuild"
    after = "site.after:hosts.rebuild"
    ends = ("failed", "active")

    async def ask(self, lab: Lab) -> Expectation:
        expectation = await super().ask(lab)
        lab.fault(call="hosts.rebuild", action="status", status=422)
        return expectation


class ChangeKeys(Kind):
    name = "change-keys"

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.an_active_cluster()
        name = lab.fresh()
        async with lab.database.begin() as connection:
            await make_ssh_key(connection, lab.project.id, name)
        await lab.update(cluster, ssh_keys=[name])
        operation = await lab.value(
            "SELECT id FROM operations WHERE cluster_id = :id AND finished_at IS NULL", id=cluster
        )
        return Expectation(cluster, operation, "succeeded", "active")


class PostRebuild(RequestKind):
    """Without a key: asked again, it answers with the rebuild that runs."""

    name, ends, state = "post-rebuild", "succeeded", "active"

    async def prepare(self, lab: Lab) -> ApiRequest:
        return ApiRequest("POST", f"{lab.base}/clusters/{await lab.an_active_cluster()}:rebuild", {"disk": "wipe"})


REBUILD_KINDS: tuple[Kind, ...] = (Rebuild(), CancelRebuild(), UndoRebuild(), ChangeKeys())
REBUILD_REQUESTS: tuple[RequestKind, ...] = (PostRebuild(),)
