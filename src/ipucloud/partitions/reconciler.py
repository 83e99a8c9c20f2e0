"""Carries out operations on a cluster's partitions, and records what its controller shows of them."""

from __future__ import annotations

import random
from collections.abc import Sequence

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.states import PARTITIONS
from ipucloud.db.statements import Statements
from ipucloud.kernel.clock import Clock
from ipucloud.operations.results import Achieved, Cancelled, Failed, Pending, StepResult
from ipucloud.operations.runner import Runner, unknown
from ipucloud.partitions import record
from ipucloud.partitions.controllers import Controllers
from ipucloud.partitions.decide import UNANSWERED, Announce, Confirmed, Decision
from ipucloud.partitions.inputs import Operated, PartitionInputs, load
from ipucloud.partitions.observation import NotObserved, Observation, observe
from ipucloud.partitions.operations import PARTITION_OPERATIONS
from ipucloud.partitions.resets import reset_broken
from ipucloud.partitions.states import DesiredState
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem
from ipucloud.site.ports import SiteError, Sites

log = structlog.get_logger(__name__)


class PartitionReconciler:
    """Observes one cluster's partitions: every minute when nothing changes, every second while something does."""

    kind = PARTITIONS

    def __init__(
        self,
        sites: Sites,
        *,
        clock: Clock,
        quiet_interval: float,
        change_interval: float,
        request_life: float,
        attempts: int,
        deadline: float,
        draw: random.Random,
    ) -> None:
        self._sites = sites
        self._runner = Runner(PARTITION_OPERATIONS, attempts=attempts, pause=change_interval, draw=draw)
        self._quiet_interval = quiet_interval
        self._change_interval = change_interval
        self._request_life = request_life
        self._deadline = deadline
        self._draw = draw
        self._controllers = Controllers(clock, draw, pause=change_interval)

    async def load(self, connection: Statements, item: WorkItem) -> PartitionInputs | Outcome:
        inputs = await load(connection, item)
        if inputs is None:
            return Done()
        for operation in inputs.operation_of.values():
            if not self._runner.knows(operation):
                return unknown(operation)
        return inputs

    async def act(self, item: WorkItem, inputs: PartitionInputs) -> Observation | NotObserved:
        structlog.contextvars.bind_contextvars(project_id=str(inputs.project_id), cluster_id=str(inputs.cluster_id))
        wait = self._controllers.wait_for(inputs.vipu)
        if wait is not None:
            return NotObserved("other passes are using this controller", outage=False, recheck=wait)
        site = self._sites.at(inputs.vipu, item.remaining)
        with self._controllers.pass_at(inputs.vipu):
            try:
                observation = await observe(site, inputs, item.fence, self._request_life)
            except SiteError as error:
                log.warning("partitions_not_seen", error=str(error))
                return NotObserved(UNANSWERED, recheck=self._controllers.failed(inputs.vipu))
        self._controllers.answered(inputs.vipu)
        return observation

    async def apply(
        self, connection: AsyncConnection, item: WorkItem, inputs: PartitionInputs, result: Observation | NotObserved
    ) -> Outcome:
        current = await record.lock(connection, inputs)
        if current is None:
            # The cluster is being deleted, suspended or repaired: its own operation takes the partitions away.
            return Go()
        if isinstance(result, NotObserved):
            return await self._not_observed(connection, item, current, result)
        decisions = [(each, self._decide(each, result)) for each in current.operated]
        fulfilled = {
            each.partition.id
            for each, decision in decisions
            if isinstance(decision, Achieved) and each.partition.desired_state is not DesiredState.ABSENT
        }
        changed = await record.write(connection, current, result, frozenset(fulfilled))
        outcomes = [await self._carry_on(connection, item, each, decision) for each, decision in decisions]
        if await reset_broken(connection, current, deadline=self._deadline):
            return Go()
        return _together(outcomes) if outcomes else self._wait("observed", changed=changed)

    def _wait(self, reason: str, *, changed: bool) -> Outcome:
        interval = self._change_interval if changed else self._quiet_interval
        return Wait(reason, recheck=interval * self._draw.uniform(0.9, 1.1))

    def _decide(self, operated: Operated, observation: Observation) -> Decision | None:
        """What was observed says about an operation; None: nothing, because its step is not to be tried again yet."""
        operation = operated.operation
        decision = self._runner.step(operation).act(operated.partition, observation, operation.step.running_for)
        decided = self._runner.decided(operation)
        if isinstance(decided, Cancelled) or not isinstance(decision, Achieved):
            return decided or (None if operated.rests else decision)
        return decision

    async def _carry_on(
        self, connection: AsyncConnection, item: WorkItem, operated: Operated, decision: Decision | None
    ) -> Outcome:
        """Advance one operation."""
        match decision:
            case None:
                return Wait("its step is to be tried again later", recheck=operated.operation.step.retry_in)
            case Announce():
                await record.mark_reset(connection, operated, item.fence)
                return Go()
            case Confirmed(detail=detail):
                await record.mark_reset(connection, operated, item.fence, confirmed=True)
                return await self._finish(connection, operated, Pending(detail))
            case _:
                return await self._finish(connection, operated, decision)

    async def _not_observed(
        self, connection: AsyncConnection, item: WorkItem, inputs: PartitionInputs, result: NotObserved
    ) -> Outcome:
        quiet = Wait(result.detail, recheck=result.recheck or self._quiet_interval)
        if not result.outage:
            return quiet
        unanswered = Failed(result.detail, outage=True)
        outcomes = [
            await self._carry_on(
                connection, item, each, self._runner.decided(each.operation) or (None if each.rests else unanswered)
            )
            for each in inputs.operated
        ]
        return _together(outcomes) if outcomes else quiet

    async def _finish(self, connection: AsyncConnection, operated: Operated, result: StepResult) -> Outcome:
        outcome = await self._runner.apply(connection, operated.operation, operated, result)
        return self._wait("operation ended", changed=True) if isinstance(outcome, Done) else outcome


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    """The outcome of a pass over several operations: none of them waits for another."""
    waits = [outcome for outcome in outcomes if isinstance(outcome, Wait)]
    if len(waits) < len(outcomes):
        return next(outcome for outcome in outcomes if not isinstance(outcome, Wait))
    return min(waits, key=lambda wait: wait.recheck)
