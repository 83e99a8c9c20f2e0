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
    """`after`: the point from which hits count. `first`: the victim's traps before the deadly one."""

    name: ClassVar[str]
    after: ClassVar[str | None] = None
    settings: ClassVar[Mapping[str, Any]] = NOTHING
    first: ClassVar[tuple[Trap, ...]] = ()

    async def ask(self, lab: Lab) -> Expectation:
        raise NotImplementedError

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        """Return when the victim has nothing more to do. Cancelled when it has died."""
        await lab.finished(expectation.operation)

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        """What others have to achieve once the victim is gone, besides the end of the operation."""


class Create(Kind):
    name = "create"

    async def ask(self, lab: Lab) -> Expectation:
        creation = await lab.create_fresh()
        return Expectation(creation.target_id, creation, "succeeded", "active")


class Delete(Kind):
    name = "delete"

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.an_active_cluster()
        return Expectation(cluster, await lab.delete(cluster), "succeeded", "deleted")


class Cancel(Kind):
    """Cancelled when all but its Poplar server is there."""

    name = "cancel"
    after = "operation.cancel_seen"

    async def ask(self, lab: Lab) -> Expectation:
        lab.fault(call="hosts.put_server", action="status", status=503)
        creation = await lab.create_fresh()
        return Expectation(creation.target_id, creation, "cancelled", "deleted")

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await victim.reached("site.after:hosts.put_server")
        assert await lab.cancel(expectation.operation)
        await super().drive(lab, expectation, victim)


class Undo(Kind):
    """A create that the site refuses when all but its Poplar server is there."""

    name = "undo"
    after = "site.after:hosts.put_server"

    async def ask(self, lab: Lab) -> Expectation:
        lab.fault(call="hosts.put_server", action="status", status=422)
        creation = await lab.create_fresh()
        return Expectation(creation.target_id, creation, "failed", "error")


class Held(Create):
    """A create whose first change at the site gets no answer for longer than a lease would last unrenewed."""

    name = "held"
    settings = MappingProxyType({"lease_seconds": 0.6, "site_call_timeout": 0.5})

    async def ask(self, lab: Lab) -> Expectation:
        lab.fault(call="networks.put", action="stall", times=1)
        return await super().ask(lab)


class Drain(Create):
    """A worker that is asked to end while a call gets no answer, and has to hand back what it holds."""

    name = "drain"
    settings = MappingProxyType({"drain_seconds": 0.05})

    async def ask(self, lab: Lab) -> Expectation:
        lab.fault(call="networks.put", action="stall", times=1)
        return await super().ask(lab)

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
