"""Carries operations out as declared: what the outcome of a step writes, and when it ends or undoes the operation.

One runner serves the operations on clusters, on partitions and of exports. Their reconcilers load, take the step, and
pass the outcome on; everything here runs inside the transaction of their `apply`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.operations import OperationState
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.ending import end_operation
from ipucloud.operations.kind import Ending, Kind, OpenOperation, Undo
from ipucloud.operations.results import Achieved, Cancelled, Failed, GiveUp, Pending, StepResult
from ipucloud.operations.states import StepState
from ipucloud.operations.step import Act, Inputs, Step, plan_of
from ipucloud.operations.store import append_steps, append_undo, count_check, record_step
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait, backoff

OUTAGE_ATTEMPTS = 20
"""Failures of a step during an outage: with the backoff's cap of a minute, about a quarter of an hour."""

UNKNOWN_SECONDS = 60.0
UNUSUAL = 2.0
FEW_PAUSES = 4
"""A pending step is blocked after so many times the usual length of its stage, and more than a few pauses."""
LIMIT = 2.0
"""A pending step has failed after so many times the usual length of its stage, or of the whole operation if longer."""


def unknown(operation: OpenOperation) -> Outcome:
    """The outcome for an operation of another version of the product: a worker of that version continues it."""
    return Wait(f"this worker does not know step {operation.step.name} of {operation.kind}", recheck=UNKNOWN_SECONDS)


@dataclass(frozen=True)
class _Pass(Generic[Act, Inputs]):
    """The transaction of one reconcile pass, and what it is about."""

    connection: AsyncConnection
    kind: Kind[Act, Inputs]
    operation: OpenOperation
    inputs: Inputs


class Runner(Generic[Act, Inputs]):
    """The operations of some kinds.

    A step that declares no number of its own is given up after `attempts` failures. A pending step is checked again
    after `pause` seconds, and the pauses after failures grow from there; `draw` gives their jitter.
    """

    def __init__(self, kinds: Iterable[Kind[Act, Inputs]], *, attempts: int, pause: float, draw: random.Random) -> None:
        self._kinds = {kind.name: kind for kind in kinds}
        self._attempts = attempts
        self._pause = pause
        self._draw = draw

    def knows(self, operation: OpenOperation) -> bool:
        """Whether this version of the product can take the operation's current step."""
        kind = self._kinds.get(operation.kind)
        return kind is not None and kind.step(operation) is not None

    def step(self, operation: OpenOperation) -> Step[Act, Inputs]:
        """The declaration of the operation's current step. Raises LookupError for one that it does not know."""
        step = self._kinds[operation.kind].step(operation)
        if step is None:
            raise LookupError(f"{operation.kind} has no step {operation.step.name}")
        return step

    def decided(self, operation: OpenOperation) -> Cancelled | Failed | None:
        """The outcome of a step that is no longer taken: the operation is to be cancelled, or is overdue."""
        if not operation.undoing and operation.state is OperationState.CANCELLING:
            failpoint("operation.cancel_seen")
            return Cancelled()
        if operation.overdue and not self.step(operation).endures:
            return Failed("the operation took longer than it may", final=True)
        return None

    def stuck(self, operation: OpenOperation, result: StepResult) -> bool:
        """Whether the step does not come to its end as usual, so that it is time to look for the cause."""
        match result:
            case Pending():
                return not self.step(operation).endures and self._unusual(operation, result)
            case Failed():
                return result.outage and operation.step.attempts > 0
        return False

    def limited(self, operation: OpenOperation, result: StepResult) -> StepResult:
        """The result, or a failure if the step has been pending for longer than its limit."""
        step = self.step(operation)
        if not isinstance(result, Pending) or result.endless or result.recheck is not None or step.endures:
            return result
        limit = LIMIT * max(step.stage.seconds, operation.usual or 0.0)
        if operation.step.running_for <= limit:
            return result
        return Failed(f"{result.detail}: not done within {limit / 60:.0f} minutes")

    async def apply(
        self, connection: AsyncConnection, operation: OpenOperation, inputs: Inputs, result: StepResult
    ) -> Outcome:
        """Write the outcome of the current step. The caller holds the locks of the object and the operation.

        Returns Done when the operation has ended.
        """
        at = _Pass(connection, self._kinds[operation.kind], operation, inputs)
        match result:
            case Achieved():
                return await self._advance(at, result)
            case Pending():
                return await self._pending(at, result)
            case Failed():
                return await self._fail(at, result)
            case Cancelled() if at.kind.unbegun(inputs):
                await _record(at, StepState.SKIPPED, "cancelled")
                return await _end(at, Ending(OperationState.CANCELLED, None))
            case Cancelled():
                await _undo(at, _required(at.kind.next_undo(at.operation), at.kind), None)
                await _record(at, StepState.SKIPPED, "cancelled")
                return Go()

    async def _pending(self, at: _Pass[Act, Inputs], pending: Pending) -> Outcome:
        """What it waits for is shown at once of a step that says so; of others when that takes unusually long."""
        step, endures = at.operation.step, self.step(at.operation).endures
        blocked = pending.blocked or self._unusual(at.operation, pending) or (endures and self._slow(at.operation))
        if (pending.detail, blocked) == (step.detail, step.blocked):
            await count_check(at.connection, at.operation, pending.notes)
        else:
            await _record(at, StepState.RUNNING, pending.detail, blocked=blocked, notes=pending.notes)
        return Wait(pending.detail, recheck=self._pause if pending.recheck is None else pending.recheck)

    def _unusual(self, operation: OpenOperation, pending: Pending) -> bool:
        return pending.recheck is None and self._slow(operation)

    def _slow(self, operation: OpenOperation) -> bool:
        """Whether the step has been pending for longer than usual."""
        declared = self.step(operation).stage.seconds
        usual = declared if operation.usual is None else min(declared, operation.usual)
        return operation.step.running_for > max(UNUSUAL * usual, FEW_PAUSES * self._pause)

    async def _advance(self, at: _Pass[Act, Inputs], achieved: Achieved) -> Outcome:
        await _record(at, StepState.SUCCEEDED, achieved.note)
        on_success = self.step(at.operation).on_success
        if on_success is not None:
            try:
                await on_success(at.connection, at.inputs, achieved)
            except GiveUp as given_up:
                return await _give_up(at, given_up.failed)
        if not at.operation.step.last:
            return Go()
        return await _end(at, _ending(at.kind, at.operation))

    async def _fail(self, at: _Pass[Act, Inputs], failed: Failed) -> Outcome:
        step, failures = self.step(at.operation), at.operation.step.attempts + 1
        if step.on_failure is not None:
            await step.on_failure(at.connection, at.inputs, failed)
        limit = OUTAGE_ATTEMPTS if failed.outage else step.attempts or self._attempts
        if not step.endures and (failed.final or failures >= limit):
            return await _give_up(at, failed)
        retry = step.backoff * backoff(failures, self._draw, first=self._pause)
        await _record(at, StepState.RUNNING, failed.detail, failed, retry=retry)
        return Wait(failed.detail, recheck=retry)


async def _give_up(at: _Pass[Act, Inputs], failed: Failed) -> Outcome:
    """Go on in another way, if the kind has one; otherwise undo what was done.

    An operation without an undo ends as it is: what it built belongs to an object in use. So does one that has not
    begun.
    """
    other = await at.kind.instead(at.connection, at.inputs, failed)
    if not isinstance(other, Failed):
        await append_steps(at.connection, at.operation, plan_of(other, at.kind.lacking(at.inputs)))
        await _record(at, StepState.FAILED, failed.detail, failed)
        return Go()
    failed = other
    problem = failed.problem or at.kind.problem(at.operation, failed)
    undo = None if at.kind.unbegun(at.inputs) else at.kind.next_undo(at.operation)
    if undo is not None:
        await _undo(at, undo, problem)
        await _record(at, StepState.FAILED, failed.detail, failed)
        return Go()
    await _record(at, StepState.FAILED, failed.detail, failed)
    return await _end(at, Ending(OperationState.FAILED, None), problem)


async def _record(
    at: _Pass[Act, Inputs],
    state: StepState,
    detail: str | None = None,
    failed: Failed | None = None,
    *,
    blocked: bool = False,
    notes: Mapping[str, Any] | None = None,
    retry: float | None = None,
) -> None:
    blocked = blocked or failed is not None
    await record_step(
        at.connection,
        at.operation,
        state,
        detail=detail,
        failed=failed is not None,
        blocked=blocked,
        notes=notes,
        retry=retry,
    )
    await at.kind.step_recorded(at.connection, at.inputs, detail if blocked else None)


async def _undo(at: _Pass[Act, Inputs], undo: Undo[Act, Inputs], problem: Problem | None) -> None:
    """Replace the rest of the plan. This precedes the recording of the step, which then keeps the progress.

    What follows a failed undo does not change why the operation failed.
    """
    plan = plan_of(undo.steps, at.kind.lacking(at.inputs))
    if at.operation.undoing:
        await append_steps(at.connection, at.operation, plan)
    else:
        await append_undo(at.connection, at.operation, plan, problem, more_time=undo.otherwise is not None)
    if undo.on_begin is not None:
        await undo.on_begin(at.connection, at.inputs)


async def _end(at: _Pass[Act, Inputs], ending: Ending, problem: Problem | None = None) -> Outcome:
    await at.kind.before_end(at.connection, at.inputs, ending)
    await end_operation(at.connection, at.operation, ending.operation, problem)
    await at.kind.after_end(at.connection, at.inputs, ending)
    return Done()


def _ending(kind: Kind[Act, Inputs], operation: OpenOperation) -> Ending:
    """How an operation ends whose last step succeeded."""
    if not operation.undoing:
        return Ending(OperationState.SUCCEEDED, kind.success)
    undo = _required(kind.undo_of(operation), kind)
    if operation.state is OperationState.CANCELLING:
        return Ending(OperationState.CANCELLED, undo.cancelled, f"{undo.what} was cancelled")
    return Ending(OperationState.FAILED, undo.failed, f"{undo.what} failed; its operation has the reason")


def _required(undo: Undo[Act, Inputs] | None, kind: Kind[Act, Inputs]) -> Undo[Act, Inputs]:
    if undo is None:
        raise LookupError(f"{kind.name} cannot be undone")
    return undo
