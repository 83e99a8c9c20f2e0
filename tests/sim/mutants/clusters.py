"""Bugs in what moves a cluster: steps, clean-up, names, preemption."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any
from unittest import mock

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters import inputs, reconciler
from ipucloud.clusters.inputs import ClusterAct, ClusterInputs
from ipucloud.clusters.operations import delete, effects
from ipucloud.clusters.operations.all import CLUSTER_OPERATIONS
from ipucloud.clusters.operations.create import CREATE
from ipucloud.clusters.operations.delete import DELETE, TEARDOWN
from ipucloud.clusters.operations.resume import RESUME
from ipucloud.clusters.operations.suspend import SUSPENSION
from ipucloud.clusters.reconciler import ClusterReconciler
from ipucloud.clusters.steps import poplar_servers, teardown
from ipucloud.clusters.steps.poplar_servers import ServersAnswer
from ipucloud.contract.operations import OperationState
from ipucloud.invariants.comparison import SITE_OBJECTS, Comparison, SiteObject
from ipucloud.inventory import release
from ipucloud.operations import runner
from ipucloud.operations.results import Achieved, Failed, StepResult
from ipucloud.operations.runner import Runner
from ipucloud.reconcile.reconciler import WorkItem
from ipucloud.site.ports import Site
from tests.sim.mutants.planting import declare, mutant, replace, rewrite
from tests.sim.site.ports import SimulatedVipu
from tests.sim.site.vipu_controller import VipuController


def step_does(stack: ExitStack, name: str, value: ClusterAct) -> None:
    """Replace what a step does, in every kind of operation on clusters that has it."""
    for kind in CLUSTER_OPERATIONS:
        changed = {key: dataclasses.replace(step, act=value) for key, step in kind._by_name.items() if key[1] == name}
        stack.enter_context(mock.patch.dict(kind._by_name, changed))


def _never_taken_down(stack: ExitStack, name: str) -> None:
    """Leave a part of a clean-up out, and out of the pass that follows it."""
    (act,) = (step.act for step in TEARDOWN if step.name == name)
    replace(stack, teardown, "_TAKE_DOWNS", tuple(each for each in teardown._TAKE_DOWNS if each is not act))
    if act is poplar_servers.wipe_poplar_servers:
        replace(stack, teardown, "wipe_poplar_servers", _nothing)
    step_does(stack, name, _nothing)


async def _nothing(site: Site, cluster: ClusterInputs) -> StepResult:
    return Achieved()


async def _recorded(site: Site, cluster: ClusterInputs) -> StepResult:
    return ServersAnswer(())


@mutant("a cluster is called ready without anything being built")
def canary(stack: ExitStack) -> None:
    for step in CREATE.steps:
        step_does(stack, step.name, _recorded if step.on_success is not None else _nothing)


@mutant("a step that failed is repeated under another name")
def new_name(stack: ExitStack) -> None:
    honest = inputs.load

    async def named(*args: Any, **others: Any) -> ClusterInputs | None:
        cluster = await honest(*args, **others)
        name = f"{cluster.external_name}-{cluster.operation.step.attempts}" if cluster else ""
        return cluster and dataclasses.replace(cluster, external_name=name)

    replace(stack, reconciler, "load", named)


@mutant("machines are verified while old requests can still take effect")
def no_quarantine(stack: ExitStack) -> None:
    rewrite(stack, inputs, "_LOAD", ("+ :request_life AS", "+ 0 * :request_life AS"))


@mutant("machines are freed after the quarantine without a pass")
def no_verification(stack: ExitStack) -> None:
    async def verify(site: Site, cluster: ClusterInputs) -> StepResult:
        return await teardown.verify_clean(site, cluster) if cluster.quarantine_left > 0 else Achieved()

    step_does(stack, "verify_clean", verify)


@mutant("machines are free as soon as they were switched off")
def freed_when_released(stack: ExitStack) -> None:
    rewrite(
        stack,
        release,
        "_RELEASE",
        ("SET released_at = app_now()", "SET released_at = app_now(), freed_at = app_now()"),
    )


@mutant("the observation that frees machines is older than the quarantine")
def verified_too_early(stack: ExitStack) -> None:
    """The observation comes first, the waiting after it."""
    honest = teardown.verify_clean

    async def verify(site: Site, cluster: ClusterInputs) -> StepResult:
        if cluster.quarantine_left <= 0:
            return Achieved()
        first = await honest(site, dataclasses.replace(cluster, quarantine_left=0.0))
        return await honest(site, cluster) if isinstance(first, Achieved) else first

    step_does(stack, "verify_clean", verify)


@mutant("a call without an answer counts as done")
def unknown_is_done(stack: ExitStack) -> None:
    honest = ClusterReconciler.act

    async def act(self: ClusterReconciler, item: WorkItem, cluster: ClusterInputs) -> StepResult:
        result = await honest(self, item, cluster)
        return Achieved() if isinstance(result, Failed) and result.outage else result

    replace(stack, ClusterReconciler, "act", act)


@mutant("a call without an answer counts as failed, and its machines as free")
def unknown_is_failed(stack: ExitStack) -> None:
    """A time-out means that nothing was made: the operation ends and its machines are free."""
    honest = Runner._fail

    async def fail(self: Runner[Any, Any], at: Any, failure: Failed) -> Any:
        if failure.outage and at.kind is CREATE and not at.operation.undoing:
            await effects.release_machines(at.connection, at.inputs, Achieved())
            return await honest(self, at, dataclasses.replace(failure, final=True))
        return await honest(self, at, failure)

    replace(stack, Runner, "_fail", fail)
    freed_when_released(stack)


@mutant("a failed create is undone without taking down what it built")
def undo_forgets(stack: ExitStack) -> None:
    assert CREATE.undo is not None
    forgetful = tuple(step for step in TEARDOWN if step.name == "power_off_machines")
    declare(stack, CREATE, undo=dataclasses.replace(CREATE.undo, steps=forgetful))


@mutant("a resume that fails or is cancelled gives nothing back")
def resume_gives_nothing_back(stack: ExitStack) -> None:
    assert RESUME.undo is not None
    forgetful = tuple(step for step in SUSPENSION if step.name == "verify_suspended")
    declare(stack, RESUME, undo=dataclasses.replace(RESUME.undo, steps=forgetful))


@mutant("a suspend wipes the servers that it should keep")
def suspend_wipes(stack: ExitStack) -> None:
    step_does(stack, "switch_off_poplar_servers", poplar_servers.wipe_poplar_servers)


@mutant("a clean-up removes every partition of the controller")
def foreign_partitions(stack: ExitStack) -> None:
    async def remove(site: Site, cluster: ClusterInputs) -> StepResult:
        for allocation in await site.vipu.list_allocations(""):
            await site.vipu.remove_partitions(allocation.id)
        return Achieved()

    step_does(stack, "remove_partitions", remove)


@mutant("servers are not wiped")
def no_wipe(stack: ExitStack) -> None:
    _never_taken_down(stack, "wipe_poplar_servers")


@mutant("the tenant network is not taken down")
def network_stays(stack: ExitStack) -> None:
    _never_taken_down(stack, "detach_network")


@mutant("a clean-up forgets the partitions that the customer made")
def own_partition_only(stack: ExitStack) -> None:
    replace(stack, VipuController, "remove_partitions", lambda self, name: self.remove_partition(name, name))


@mutant(
    "partitions are removed by their names, which customers choose and choose again", directed="tests/sim/test_names.py"
)
def removed_by_name(stack: ExitStack) -> None:
    def everywhere(controller: VipuController, name: str) -> None:
        for owner, each in list(controller.state.partitions):
            if each == name:
                controller.remove_partition(owner, name)

    async def remove(self: SimulatedVipu, allocation_id: str) -> None:
        for name in await self.list_partitions(allocation_id):
            await self._calls.change("remove_partition", name, partial(everywhere, self._controller, name))

    replace(stack, SimulatedVipu, "remove_partitions", remove)


@mutant("machines go to the next tenant without having been off")
def stays_on(stack: ExitStack) -> None:
    _never_taken_down(stack, "power_off_machines")


@mutant("a result counts although a delete took the operation's place", directed="tests/proof/test_boundaries.py")
def preemption_missed(stack: ExitStack) -> None:
    rewrite(
        stack,
        effects,
        "_LOCK",
        (" AND o.finished_at IS NULL\n", "\n"),
        ("AND (o.state = 'cancelling') = :cancelling", "AND :cancelling IS NOT NULL"),
    )


@mutant("a cancel during the last step is accepted and forgotten", directed="tests/proof/test_boundaries.py")
def late_cancel_missed(stack: ExitStack) -> None:
    rewrite(stack, effects, "_LOCK", ("(o.state = 'cancelling') = :cancelling", ":cancelling IS NOT NULL"))


@mutant("no pass checks whether an operation is to be cancelled")
def cancel_ignored(stack: ExitStack) -> None:
    class Blind(str):
        CANCELLING = "never"
        SUCCEEDED = OperationState.SUCCEEDED
        CANCELLED = OperationState.CANCELLED
        FAILED = OperationState.FAILED

    replace(stack, runner, "OperationState", Blind)


@mutant("a delete leaves the operation that runs")
def delete_does_not_preempt(stack: ExitStack) -> None:
    async def preempt(connection: AsyncConnection, **_: object) -> None:
        return None

    replace(stack, delete, "preempt_all", preempt)


@mutant("a delete is recorded and no worker is woken")
def delete_wakes_nobody(stack: ExitStack) -> None:
    declare(stack, DELETE, work_kind="nobody")


@mutant("a create that cannot succeed is tried for ever")
def never_gives_up(stack: ExitStack) -> None:
    honest = ClusterReconciler.__init__

    def patient(self: ClusterReconciler, *args: Any, **kwargs: Any) -> None:
        honest(self, *args, **kwargs | {"attempts": 10**6})

    replace(stack, ClusterReconciler, "__init__", patient)


@mutant("a clean-up step that fails three times is left out")
def gives_up_on_clean_up(stack: ExitStack) -> None:
    honest = Runner._fail

    async def fail(self: Runner[Any, Any], at: Any, failure: Failed) -> Any:
        step = at.operation.step
        if step.attempts >= 2 and step.stage in {"CLUSTER_CLEAN_UP", "CLUSTER_SUSPEND"}:
            return await self._advance(at, Achieved())
        return await honest(self, at, failure)

    replace(stack, Runner, "_fail", fail)


@mutant(
    "a site that does not answer ends the pass with an exception",
    directed="tests/worker/test_cluster_life.py::test_clean_up_goes_on_until_it_holds",
)
def error_leaks(stack: ExitStack) -> None:
    """A site that does not answer escapes the step as an exception."""
    replace(stack, reconciler, "SiteUnknown", type("Never", (Exception,), {}))


@mutant("the sweep takes for left over what clusters in use hold")
def sweeps_the_living(stack: ExitStack) -> None:
    def unowned(self: Comparison, *kinds: str) -> Iterator[SiteObject]:
        yield from (each for kind in kinds for region in self.census for each in SITE_OBJECTS[kind](region))

    replace(stack, Comparison, "unowned", unowned)
