"""Workers that freeze between the inputs they read and the request they send, and thaw when the world has moved on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from uuid import UUID

from ipucloud.kernel.failpoints import Action, Trap
from ipucloud.operations.store import Accepted
from ipucloud.site.calls import Call
from tests.crash import checks
from tests.crash.changing import Resume, Suspend
from tests.crash.kinds import Create, Delete, Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.victims import Victim
from tests.support.waiting import for_a_process

LEASE = 0.4
"""Seconds of the victim's lease: long enough to get to its call on a slow machine."""

STALE = ("engine.stale_result", "engine.stale_pass")
"""Points that a worker comes to when it learns that a work item is not its own any more."""

BUILDING = (
    Call.GET_NETWORK,
    Call.PUT_NETWORK,
    Call.GET_MACHINE,
    Call.RESET_MACHINE,
    Call.GET_ALLOCATION,
    Call.CREATE_ALLOCATION,
    Call.GET_CLUSTER_TEST,
    Call.TEST_CLUSTER,
    Call.GET_PARTITION_STATUS,
    Call.CREATE_PARTITION,
    Call.GET_HOST,
    Call.PUT_SERVER,
    Call.SSH_HOST_KEY,
)
TAKING_DOWN = (
    Call.GET_HOST,
    Call.DELETE_SERVER,
    Call.LIST_PARTITIONS,
    Call.REMOVE_PARTITIONS,
    Call.GET_ALLOCATION,
    Call.REMOVE_ALLOCATION,
    Call.GET_NETWORK,
    Call.DELETE_NETWORK,
    Call.GET_MACHINE,
    Call.RESET_MACHINE,
    Call.LIST_ALLOCATIONS,
)
SUSPENDING = (*(call for call in TAKING_DOWN if call is not Call.DELETE_SERVER), Call.POWER_HOST)
RESUMING = (*(call for call in BUILDING if call is not Call.PUT_SERVER), Call.POWER_HOST)
MAKING = tuple(call for call in BUILDING if not call.name.startswith("GET_") and call is not Call.SSH_HOST_KEY)
"""Calls that bring something about that a delete has to take down again."""

PHASES = (
    Call.DELETE_SERVER,
    Call.REMOVE_PARTITIONS,
    Call.REMOVE_ALLOCATION,
    Call.DELETE_NETWORK,
    Call.RESET_MACHINE,
    Call.LIST_ALLOCATIONS,
)
"""The call of each step of a delete that can be held up."""


class Meanwhile(StrEnum):
    """What others do before the zombie thaws: finish its operation; resume the cluster that it suspends; delete its
    cluster too; give its machines to another customer's cluster."""

    FINISHED = "finished"
    RESUMED = "resumed"
    DELETED = "deleted"
    GIVEN_AWAY = "given-away"


@dataclass(frozen=True)
class Case:
    """The zombie freezes right before `call` of a `kind`, for so many leases at least.

    `held`: it thaws while a delete of its cluster is held up at this call.
    """

    kind: Kind
    call: Call
    meanwhile: Meanwhile
    leases: int
    held: Call | None = None

    def __str__(self) -> str:
        moment = self.meanwhile if self.held is None else f"deleting-{self.held}"
        return f"{self.kind.name}-{self.call}-{moment}-{self.leases}"


@dataclass(frozen=True)
class Inside:
    """The zombie freezes inside a transaction of a `kind`, with its locks held, until others have done its work."""

    kind: Kind
    point: str

    def __str__(self) -> str:
        return f"{self.kind.name}-inside-{self.point}"


INSIDE = (
    Inside(Create(), "engine.before_commit"),
    Inside(Create(), "cluster.interval_opened"),
    Inside(Delete(), "cluster.machines_released"),
    Inside(Delete(), "cluster.machines_freed"),
)


@dataclass(frozen=True)
class Thawed:
    """`refused`: where the worker learned that it was late. `left_over`: what its call had built for nobody.

    `faults`: what was wrong although it must not, and what was still wrong in the end.
    """

    refused: tuple[str, ...]
    left_over: bool
    faults: tuple[str, ...]


TRIALS: tuple[tuple[Kind, Sequence[Call], Sequence[Meanwhile]], ...] = (
    (Create(), BUILDING, (Meanwhile.FINISHED, Meanwhile.DELETED, Meanwhile.GIVEN_AWAY)),
    (Delete(), TAKING_DOWN, (Meanwhile.FINISHED, Meanwhile.GIVEN_AWAY)),
    (Suspend(), SUSPENDING, (Meanwhile.FINISHED, Meanwhile.RESUMED)),
    (Resume(), RESUMING, (Meanwhile.FINISHED, Meanwhile.DELETED)),
)
"""Of each kind, the calls before which a worker freezes, and what may go on then."""


def cases(leases: Sequence[int]) -> Iterator[Case]:
    """Every call site, with everything that may go on meanwhile."""
    for length, (kind, calls, moments) in product(leases, TRIALS):
        for call, meanwhile in product(calls, moments):
            yield Case(kind, call, meanwhile, length)
    for call in MAKING:
        for phase in PHASES:
            yield Case(Create(), call, Meanwhile.DELETED, min(leases), phase)


def everything(leases: Sequence[int]) -> list[Case | Inside]:
    return [*INSIDE, *cases(leases)]


async def attempt(lab: Lab, case: Case) -> Thawed:
    """The whole trial; the lab has no cluster before and after."""
    clock = asyncio.get_running_loop().time
    async with _frozen(lab, case.kind, f"site.before:{case.call}") as (expectation, victim), lab.survivor():
        thaw_at = clock() + case.leases * LEASE
        clusters = await _others_work(lab, case, expectation)
        if case.held is not None:
            deletion = await _held_delete(lab, expectation.cluster, case.held)
        await for_a_process(thaw_at - clock())
        victim.go_on()
        await victim.reached(f"site.after:{case.call}")
        await victim.reached(*STALE)
        if case.held is not None:
            lab.clear_faults()
            await lab.finished(deletion)
        faults = await checks.faults(lab, *clusters)
        left_over = bool(faults) and case.meanwhile is Meanwhile.DELETED
        if left_over:
            faults = await _with_an_heir(lab, clusters)
        refused = tuple(point for point in victim.points if point in STALE)
    await lab.clear()
    faults += await checks.faults(lab, *clusters)
    return Thawed(refused, left_over, tuple(faults))


async def attempt_inside(lab: Lab, case: Inside) -> list[str]:
    """The whole trial; what was wrong. The database ends a session that stands still in a transaction for 15 s."""
    async with _frozen(lab, case.kind, case.point) as (expectation, victim):
        async with lab.survivor():
            ended = (await lab.finished(expectation.operation)).state
        victim.go_on()
        await victim.reached(*STALE, "engine.database_lost", "engine.reconciler_failed")
        faults = await checks.faults(lab, expectation.cluster)
    await lab.clear()
    return faults if ended == expectation.ends else [*faults, f"the operation ended as {ended}"]


@asynccontextmanager
async def _frozen(lab: Lab, kind: Kind, point: str) -> AsyncIterator[tuple[Expectation, Victim]]:
    expectation = await kind.ask(lab)
    victim = await lab.victim(Trap(point, 1, Action.STOP), changes={"lease_seconds": LEASE})
    try:
        await victim.stopped()
        yield expectation, victim
    finally:
        await victim.kill()


async def _others_work(lab: Lab, case: Case, expectation: Expectation) -> list[UUID]:
    """What others do while the zombie stands still; the clusters that it is about."""
    ended = await lab.finished(expectation.operation)
    assert ended.state == expectation.ends, ended
    if case.meanwhile is Meanwhile.RESUMED:
        await lab.finished(await lab.resume(expectation.cluster))
    if case.meanwhile in {Meanwhile.FINISHED, Meanwhile.RESUMED} or case.held is not None:
        return [expectation.cluster]
    if expectation.state != "deleted":
        await lab.finished(await lab.delete(expectation.cluster))
    if case.meanwhile is Meanwhile.DELETED:
        return [expectation.cluster]
    heir = await lab.create_fresh()
    await lab.finished(heir)
    assert await _inherited(lab, expectation.cluster, heir.target_id)
    return [expectation.cluster, heir.target_id]


async def _held_delete(lab: Lab, cluster: UUID, call: Call) -> Accepted:
    """A delete that gets no further than `call`."""
    lab.fault(call=call.value, action="status", status=503, grpc_status="UNAVAILABLE")
    deletion = await lab.delete(cluster)
    await lab.hit(call)
    return deletion


async def _with_an_heir(lab: Lab, clusters: Sequence[UUID]) -> list[str]:
    """What is wrong when somebody gets the machines with the left-over on them, and it is then swept away."""
    heir = await lab.create_fresh()
    await lab.blocked(heir.target_id)
    await lab.sweep()
    ended = await lab.finished(heir)
    faults = await checks.faults(lab, *clusters, heir.target_id)
    if ended.state != "succeeded" or not await _inherited(lab, clusters[0], heir.target_id):
        faults.append(f"the heir's create ended as {ended}")
    return faults


async def _inherited(lab: Lab, cluster: UUID, heir: UUID) -> bool:
    """Whether every machine and host of the one now belongs to the other."""
    rows = await lab.rows(
        "SELECT a.cluster_id, array_agg(coalesce(a.machine_id, a.host_id)) AS held FROM allocations a"
        " WHERE a.cluster_id IN (:cluster, :heir) GROUP BY 1",
        cluster=cluster,
        heir=heir,
    )
    held = {row.cluster_id: set(row.held) for row in rows}
    return held[cluster] == held[heir]
