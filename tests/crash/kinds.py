"""The kinds of trial with a worker: what is asked for, what goes on while the victim works, what has to come of it."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar
from uuid import UUID

from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.reports import report
from ipucloud.kernel.failpoints import Action, Trap
from ipucloud.operations.store import Accepted
from ipucloud.wire.site import NetworkSpec
from ipucloud.worker.sweep import SIGHTINGS
from tests.crash.checks import REGION
from tests.crash.lab import NOTHING, Lab
from tests.crash.victims import Victim


@dataclass(frozen=True)
class Expectation:
    """What a request has to come to: the operation has to end as `ends`, and its cluster as `state`."""

    cluster: UUID
    operation: Accepted | UUID
    ends: str
    state: str


class Kind:
    """`after`: the point from which hits count. `first`: the victim's traps before the deadly one.

    `ends`: how the operation has to end, and its cluster. `fault`: the site's rule from the request on. `cancelled_at`:
    the call to the site after which the operation is cancelled.
    """

    name: ClassVar[str]
    after: ClassVar[str | None] = None
    settings: ClassVar[Mapping[str, Any]] = NOTHING
    first: ClassVar[tuple[Trap, ...]] = ()
    ends: ClassVar[tuple[str, str]] = ("succeeded", "active")
    fault: ClassVar[Mapping[str, object] | None] = None
    cancelled_at: ClassVar[str | None] = None

    async def begin(self, lab: Lab) -> Accepted:
        """Ask for an operation on a cluster."""
        raise NotImplementedError

    async def ask(self, lab: Lab) -> Expectation:
        accepted = await self.begin(lab)
        if self.fault is not None:
            lab.fault(**self.fault)
        return Expectation(accepted.target_id, accepted, *self.ends)

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        """Return when the victim has nothing more to do. Cancelled when it has died."""
        if self.cancelled_at is not None:
            await victim.reached(f"site.after:{self.cancelled_at}")
            assert await lab.cancel(expectation.operation)
        await lab.finished(expectation.operation)

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        """What others have to achieve once the victim is gone, besides the end of the operation."""


class Beside(Kind):
    """Something that is done for a cluster in use, and is no operation on it."""

    async def start(self, lab: Lab, cluster: UUID) -> None:
        raise NotImplementedError

    async def complete(self, lab: Lab, cluster: UUID) -> None:
        """Return when a worker has done it."""
        raise NotImplementedError

    async def check(self, lab: Lab, cluster: UUID) -> None:
        """What has to be so in the end."""

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.an_active_cluster()
        await self.start(lab, cluster)
        return Expectation(cluster, await lab.last_success(cluster), *self.ends)

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await self.complete(lab, expectation.cluster)

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        async with lab.survivor(**self.settings):
            await self.complete(lab, expectation.cluster)
        await self.check(lab, expectation.cluster)


def busy(call: str) -> Mapping[str, object]:
    """A rule by which the site does not carry out such calls."""
    return {"call": call, "action": "status", "status": 503, "grpc_status": "UNAVAILABLE"}


def refusing(call: str, **more: object) -> Mapping[str, object]:
    return {"call": call, "action": "status", "status": 422, "grpc_status": "INVALID_ARGUMENT", **more}


class Create(Kind):
    name = "create"

    async def begin(self, lab: Lab) -> Accepted:
        return await lab.create_fresh()


class Delete(Kind):
    name, ends = "delete", ("succeeded", "deleted")

    async def begin(self, lab: Lab) -> Accepted:
        return await lab.delete(await lab.an_active_cluster())


class Cancel(Create):
    """Cancelled when all but its Poplar server is there."""

    name, ends = "cancel", ("cancelled", "deleted")
    after = "operation.cancel_seen"
    fault, cancelled_at = busy("hosts.put_server"), "hosts.put_server"


class Undo(Create):
    """A create that the site refuses when all but its Poplar server is there."""

    name, ends = "undo", ("failed", "error")
    after = "site.after:hosts.put_server"
    fault = refusing("hosts.put_server")


STALLED = MappingProxyType({"call": "networks.put", "action": "stall", "times": 1})


class Held(Create):
    """A create whose first change at the site gets no answer for longer than a lease would last unrenewed."""

    name = "held"
    settings = MappingProxyType({"lease_seconds": 0.6, "site_call_timeout": 0.5})
    fault = STALLED


class Drain(Create):
    """A worker that is asked to end while a call gets no answer, and has to hand back what it holds."""

    name = "drain"
    settings = MappingProxyType({"drain_seconds": 0.05})
    fault = STALLED

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await victim.reached("site.before:networks.put")
        victim.signal(signal.SIGTERM)
        await victim.end()


class Cut(Create):
    """A worker whose statement is cut off while it waits for a lock in its last transaction."""

    name = "cut"

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        async with lab.database.begin() as connection:
            await connection.exec_driver_sql("SELECT used FROM quotas FOR UPDATE")
            await lab.cut_waiting("SELECT q.used FROM quotas q")
        await super().drive(lab, expectation, victim)


class Bug(Create):
    """A create during which an exception comes that nobody foresaw."""

    name = "bug"
    first = (Trap("engine.acted", 1, Action.RAISE),)


class Tasks(Create):
    """The periodic tasks, all due at once, with something to sweep away; and a create beside them."""

    name = "tasks"

    async def ask(self, lab: Lab) -> Expectation:
        expectation = await super().ask(lab)
        await self._leave_something(lab)
        await lab.execute("UPDATE work SET run_at = app_now() WHERE kind = 'periodic'")
        return expectation

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await super().drive(lab, expectation, victim)
        await lab.tasks_are_done()

    async def _leave_something(self, lab: Lab) -> None:
        """A network of a cluster that is gone, on hosts of nobody, one of which is to be cleaned."""
        gone = await lab.rows("SELECT external_name FROM clusters WHERE deleted_at IS NOT NULL LIMIT 1")
        if not gone:
            await lab.remove([await lab.an_active_cluster()])
            return await self._leave_something(lab)
        hosts = await lab.rows(
            "SELECT id, name FROM hosts WHERE region = :region ORDER BY name DESC LIMIT 1", region=REGION
        )
        async with lab.database.begin() as connection:
            await report(
                connection,
                kind="host",
                object_id=hosts[0].id,
                source=Source.OPERATION,
                code=Code.NOT_CLEAN,
                detail="it was left",
            )
        site = await lab.patient_site()
        await site.networks.put(gone[0][0], NetworkSpec(region=REGION, machines=[], hosts=[hosts[0].name]))
        await lab.execute("DELETE FROM site_findings")  # of the same network in an earlier trial
        await lab.sweep(SIGHTINGS - 1)
        return None


class Stale(Create):
    """A worker that thaws when another has done its work, and learns it when it asks whether it may call the site.

    It freezes between two calls of the cluster's first step: it asks before its heartbeat has a turn.
    """

    name = "stale"
    settings = MappingProxyType({"lease_seconds": 0.3})
    first = (Trap("site.after:networks.get", 1, Action.STOP),)

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await victim.stopped()
        async with lab.survivor():
            await super().drive(lab, expectation, victim)
        victim.go_on()
        await victim.end()


class StaleHeld(Stale):
    """The same, but the site gives no answer, and the worker's heartbeat is first to learn it."""

    name = "stale-held"
    first = (Trap("site.before:networks.put", 1, Action.STOP),)

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await victim.stopped()
        async with lab.survivor():
            await Kind.drive(self, lab, expectation, victim)
        lab.fault(call="*", action="stall")
        victim.go_on()
        await victim.end()


KINDS: tuple[Kind, ...] = (Create(), Delete(), Cancel(), Undo())
"""Every kind of operation on a cluster."""
SPECIAL: tuple[type[Kind], ...] = (Held, Drain, Cut, Bug, Tasks, Stale)
"""What it takes to reach the points that the ordinary life of a cluster does not reach."""
