"""Bugs in what moves a cluster: steps, clean-up, names, preemption."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from functools import partial
from typing import Any

from ipucloud.clusters import inputs, reconciler
from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.operations import delete, effects
from ipucloud.clusters.operations.create import CREATE
from ipucloud.clusters.operations.delete import DELETE, TEARDOWN
from ipucloud.clusters.operations.resume import RESUME
from ipucloud.clusters.operations.suspend import SUSPENSION
from ipucloud.clusters.reconciler import ClusterReconciler
from ipucloud.clusters.steps import poplar_servers, teardown
from ipucloud.clusters.steps.poplar_servers import ServersAnswer
from ipucloud.contract.operations import OperationState
from ipucloud.inventory import release
from ipucloud.operations import runner
from ipucloud.operations.results import Achieved, Failed, StepResult
from ipucloud.operations.runner import Runner
from ipucloud.reconcile.reconciler import WorkItem
from ipucloud.site.ports import Site
from tests.sim.mutants.planting import Mutant, answers, replace
from tests.sim.site.ports import SimulatedVipu
from tests.sim.site.vipu_controller import VipuController

_PROOF = "tests/proof/test_boundaries.py"
_nothing = answers(Achieved())


def _never_taken_down(breaks: str, name: str) -> Mutant:
    """A part of a clean-up is left out, also of the pass that follows it."""
    (act,) = (step.act for step in TEARDOWN if step.name == name)

    def plant(stack: ExitStack) -> None:
        replace(stack, teardown, "_TAKE_DOWNS", tuple(each for each in teardown._TAKE_DOWNS if each is not act))
        if act is poplar_servers.wipe_poplar_servers:
            replace(stack, teardown, "wipe_poplar_servers", _nothing)

    return Mutant(breaks).does(plant).step(name, act=_nothing)


canary = Mutant("a cluster is called ready without anything being built")
for _step in CREATE.steps:
    canary.step(_step.name, act=_nothing if _step.on_success is None else answers(ServersAnswer(())))


@Mutant("a step that failed is repeated under another name").wraps(reconciler, "load")
async def new_name(honest: Any, *args: Any, **others: Any) -> ClusterInputs | None:
    cluster: ClusterInputs | None = await honest(*args, **others)
    name = f"{cluster.external_name}-{cluster.operation.step.attempts}" if cluster else ""
    return cluster and dataclasses.replace(cluster, external_name=name)


no_quarantine = Mutant("machines are verified while old requests can still take effect").rewrite(
    inputs, "_LOAD", ("+ :request_life AS", "+ 0 * :request_life AS")
)


@Mutant("machines are freed after the quarantine without a pass").acts("verify_clean")
async def no_verification(site: Site, cluster: ClusterInputs) -> StepResult:
    return await teardown.verify_clean(site, cluster) if cluster.quarantine_left > 0 else Achieved()


freed_when_released = Mutant("machines are free as soon as they were switched off").rewrite(
    release, "_RELEASE", ("SET released_at = app_now()", "SET released_at = app_now(), freed_at = app_now()")
)


@Mutant("the observation that frees machines is older than the quarantine").acts("verify_clean")
async def verified_too_early(site: Site, cluster: ClusterInputs) -> StepResult:
    """The observation comes first, the waiting after it."""
    if cluster.quarantine_left <= 0:
        return Achieved()
    first = await teardown.verify_clean(site, dataclasses.replace(cluster, quarantine_left=0.0))
    return await teardown.verify_clean(site, cluster) if isinstance(first, Achieved) else first


@Mutant("a call without an answer counts as done").wraps(ClusterReconciler, "act")
async def unknown_is_done(honest: Any, self: ClusterReconciler, item: WorkItem, cluster: ClusterInputs) -> StepResult:
    result: StepResult = await honest(self, item, cluster)
    return Achieved() if isinstance(result, Failed) and result.outage else result


@Mutant("a call without an answer counts as failed, and its machines as free").wraps(Runner, "_fail")
async def unknown_is_failed(honest: Any, self: Runner[Any, Any], at: Any, failure: Failed) -> Any:
    """A time-out means that nothing was made: the operation ends and its machines are free."""
    if failure.outage and at.kind is CREATE and not at.operation.undoing:
        await effects.release_machines(at.connection, at.inputs, Achieved())
        return await honest(self, at, dataclasses.replace(failure, final=True))
    return await honest(self, at, failure)


unknown_is_failed.does(freed_when_released.plant)

assert CREATE.undo is not None
undo_forgets = Mutant("a failed create is undone without taking down what it built").declare(
    CREATE,
    undo=dataclasses.replace(CREATE.undo, steps=tuple(step for step in TEARDOWN if step.name == "power_off_machines")),
)

assert RESUME.undo is not None
resume_gives_nothing_back = Mutant("a resume that fails or is cancelled gives nothing back").declare(
    RESUME,
    undo=dataclasses.replace(RESUME.undo, steps=tuple(step for step in SUSPENSION if step.name == "verify_suspended")),
)

suspend_wipes = Mutant("a suspend wipes the servers that it should keep").step(
    "switch_off_poplar_servers", act=poplar_servers.wipe_poplar_servers
)


@Mutant("a clean-up removes every partition of the controller").acts("remove_partitions")
async def foreign_partitions(site: Site, cluster: ClusterInputs) -> StepResult:
    for allocation in await site.vipu.list_allocations(""):
        await site.vipu.remove_partitions(allocation.id)
    return Achieved()


no_wipe = _never_taken_down("servers are not wiped", "wipe_poplar_servers")

network_stays = _never_taken_down("the tenant network is not taken down", "detach_network")


@Mutant("a clean-up forgets the partitions that the customer made").wraps(VipuController, "remove_partitions")
def own_partition_only(_honest: object, self: VipuController, name: str) -> None:
    self.remove_partition(name, name)


@Mutant(
    "partitions are removed by their names, which customers choose and choose again", "tests/sim/test_names.py"
).wraps(SimulatedVipu, "remove_partitions")
async def removed_by_name(_honest: object, self: SimulatedVipu, allocation_id: str) -> None:
    def everywhere(name: str) -> None:
        for owner, each in list(self._controller.state.partitions):
            if each == name:
                self._controller.remove_partition(owner, name)

    for name in await self.list_partitions(allocation_id):
        await self._calls.change("remove_partition", name, partial(everywhere, name))


stays_on = _never_taken_down("machines go to the next tenant without having been off", "power_off_machines")

preemption_missed = Mutant("a result counts although a delete took the operation's place", _PROOF).rewrite(
    effects,
    "_LOCK",
    (" AND o.finished_at IS NULL\n", "\n"),
    ("AND (o.state = 'cancelling') = :cancelling", "AND :cancelling IS NOT NULL"),
)

late_cancel_missed = Mutant("a cancel during the last step is accepted and forgotten", _PROOF).rewrite(
    effects, "_LOCK", ("(o.state = 'cancelling') = :cancelling", ":cancelling IS NOT NULL")
)


class _Blind(str):
    CANCELLING = "never"
    SUCCEEDED = OperationState.SUCCEEDED
    CANCELLED = OperationState.CANCELLED
    FAILED = OperationState.FAILED


cancel_ignored = Mutant("no pass checks whether an operation is to be cancelled").replace(
    runner, "OperationState", _Blind
)

delete_does_not_preempt = Mutant("a delete leaves the operation that runs").replace(
    delete, "preempt_all", answers(None)
)

delete_wakes_nobody = Mutant("a delete is recorded and no worker is woken").declare(DELETE, work_kind="nobody")


@Mutant("a create that cannot succeed is tried for ever").wraps(ClusterReconciler, "__init__")
def never_gives_up(honest: Any, self: ClusterReconciler, *args: Any, **named: Any) -> None:
    honest(self, *args, **named | {"attempts": 10**6})


@Mutant("a clean-up step that fails three times is left out").wraps(Runner, "_fail")
async def gives_up_on_clean_up(honest: Any, self: Runner[Any, Any], at: Any, failure: Failed) -> Any:
    step = at.operation.step
    if step.attempts >= 2 and step.stage in {"CLUSTER_CLEAN_UP", "CLUSTER_SUSPEND"}:
        return await self._advance(at, Achieved())
    return await honest(self, at, failure)


error_leaks = Mutant(
    "a site that does not answer ends the pass with an exception",
    "tests/worker/test_cluster_life.py::test_clean_up_goes_on_until_it_holds",
).replace(reconciler, "SiteUnknown", type("Never", (Exception,), {}))
