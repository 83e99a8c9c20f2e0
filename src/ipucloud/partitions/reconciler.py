"""Carries out operations on a cluster's partitions, and records what its controller shows of them."""

from __future__ import annotations

import random

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.states import PARTITIONS
from ipucloud.db.statements import Statements
from ipucloud.kernel.clock import Clock
from ipucloud.operations.kind import OpenOperation
from ipucloud.operations.results import Achieved, Failed, Pending, StepResult
from ipucloud.operations.runner import Runner, unknown
from ipucloud.partitions import record
from ipucloud.partitions.controllers import Controllers
from ipucloud.partitions.decide import UNANSWERED, Announce, Confirmed
from ipucloud.partitions.inputs import PartitionInputs, load
from ipucloud.partitions.observation import NotObserved, Observation, observe
from ipucloud.partitions.operations import PARTITION_OPERATIONS
from ipucloud.partitions.states import DesiredState
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem
from ipucloud.site.errors import SiteError
from ipucloud.site.ports import Sites

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
        draw: random.Random,
    ) -> None:
        self._sites = sites
        self._runner = Runner(PARTITION_OPERATIONS, attempts=attempts, pause=change_interval, draw=draw)
        self._quiet_interval = quiet_interval
        self._change_interval = change_interval
        self._request_life = request_life
        self._draw = draw
        self._controllers = Controllers(clock, draw, pause=change_interval)

    async def load(self, connection: Statements, item: WorkItem) -> PartitionInputs | Outcome:
        inputs = await load(connection, item)
        if inputs is None:
            return Done()
        if inputs.operation is not None and not self._runner.knows(inputs.operation):
            return unknown(inputs.operation)
        return inputs

    async def act(self, item: WorkItem, inputs: PartitionInputs) -> Observation | NotObserved:
        structlog.contextvars.bind_contextvars(project_id=str(inputs.project_id), cluster_id=str(inputs.cluster_id))
        if inputs.operation is not None:
            structlog.contextvars.bind_contextvars(
                operation_id=str(inputs.operation.id), request_id=inputs.operation.request_id
            )
        wait = self._controllers.wait_for(inputs.vipu)
        if wait is not None:
            return NotObserved("other passes are using this controller", outage=False, recheck=wait)
        site = self._sites.at(inputs.vipu, item.remaining)
        with self._controllers.pass_at(inputs.vipu):
            try:
                found = await observe(site, inputs, item.fence, self._request_life)
            except SiteError as error:
                log.warning("partitions_not_seen", error=str(error))
                return NotObserved(UNANSWERED, recheck=self._controllers.failed(inputs.vipu))
        self._controllers.answered(inputs.vipu)
        return found

    async def apply(
        self, connection: AsyncConnection, item: WorkItem, inputs: PartitionInputs, result: Observation | NotObserved
    ) -> Outcome:
        if not await record.lock(connection, inputs):
            # Another operation has begun, or the cluster is being deleted: continue with that.
            return Go()
        operation = inputs.operation
        if isinstance(result, NotObserved):
            if operation is None or not result.outage:
                return Wait(result.detail, recheck=result.recheck or self._quiet_interval)
            unanswered = Failed(result.detail, outage=True)
            return await self._settle(connection, inputs, operation, self._runner.decided(operation) or unanswered)
        if operation is None:
            changed = await record.write(connection, inputs, result)
            return self._wait("observed", changed=changed)
        return await self._operate(connection, item, inputs, operation, result)

    def _wait(self, reason: str, *, changed: bool) -> Outcome:
        interval = self._change_interval if changed else self._quiet_interval
        return Wait(reason, recheck=interval * self._draw.uniform(0.9, 1.1))

    async def _operate(
        self,
        connection: AsyncConnection,
        item: WorkItem,
        inputs: PartitionInputs,
        operation: OpenOperation,
        found: Observation,
    ) -> Outcome:
        """Advance the operation by what was observed."""
        partition = inputs.partition
        decision = self._runner.step(operation).act(partition, found)
        fulfilled = isinstance(decision, Achieved) and partition.desired_state is not DesiredState.ABSENT
        await record.write(connection, inputs, found, frozenset({partition.id}) if fulfilled else frozenset())
        if not isinstance(decision, Achieved):
            decision = self._runner.decided(operation) or decision
        match decision:
            case Announce():
                await record.mark_reset(connection, inputs, item.fence)
                return Go()
            case Confirmed(detail=detail):
                await record.mark_reset(connection, inputs, item.fence, confirmed=True)
                return await self._settle(connection, inputs, operation, Pending(detail))
            case _:
                return await self._settle(connection, inputs, operation, decision)

    async def _settle(
        self, connection: AsyncConnection, inputs: PartitionInputs, operation: OpenOperation, result: StepResult
    ) -> Outcome:
        outcome = await self._runner.apply(connection, operation, inputs, result)
        return self._wait("operation ended", changed=True) if isinstance(outcome, Done) else outcome
