"""Keeps what was promised about a cluster's partitions, and the record of what its controller shows."""

from __future__ import annotations

import random

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.states import PARTITIONS
from ipucloud.db.statements import Statements
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.states import OperationState
from ipucloud.operations.store import end_operation
from ipucloud.partitions import record
from ipucloud.partitions.controllers import Controllers
from ipucloud.partitions.decide import (
    UNANSWERED,
    Again,
    Announce,
    GiveUp,
    Pending,
    Reached,
    Sent,
    decide,
    late,
    no_good,
)
from ipucloud.partitions.inputs import PartitionInputs, Promise, load
from ipucloud.partitions.look import Look, NoLook, look
from ipucloud.partitions.states import CREATE, REMOVE, Wish
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait, backoff
from ipucloud.reconcile.reconciler import Ticket
from ipucloud.site.errors import SiteError
from ipucloud.site.ports import Sites

log = structlog.get_logger(__name__)

OUTAGE_ATTEMPTS = 20
"""Tries while the controller does not answer: with the backoff's cap of a minute, about a quarter of an hour."""


class PartitionReconciler:
    """Looks at one cluster's partitions: every minute when nothing changes, every second while something does."""

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
        self._quiet_interval = quiet_interval
        self._change_interval = change_interval
        self._request_life = request_life
        self._attempts = attempts
        self._draw = draw
        self._controllers = Controllers(clock, draw, pause=change_interval)

    async def load(self, connection: Statements, ticket: Ticket) -> PartitionInputs | Outcome:
        return await load(connection, ticket) or Done()

    async def act(self, ticket: Ticket, inputs: PartitionInputs) -> Look | NoLook:
        structlog.contextvars.bind_contextvars(project_id=str(inputs.project_id), cluster_id=str(inputs.cluster_id))
        if inputs.promise is not None:
            structlog.contextvars.bind_contextvars(
                operation_id=str(inputs.promise.operation_id), request_id=inputs.promise.request_id
            )
        wait = self._controllers.wait_for(inputs.vipu)
        if wait is not None:
            return NoLook("others are looking at this controller", outage=False, recheck=wait)
        site = self._sites.at(inputs.vipu, ticket.remaining)
        with self._controllers.looking(inputs.vipu):
            try:
                found = await look(site, inputs, ticket.fence, self._request_life)
            except SiteError as error:
                log.warning("partitions_not_seen", error=str(error))
                return NoLook(UNANSWERED, recheck=self._controllers.failed(inputs.vipu))
        self._controllers.answered(inputs.vipu)
        return found

    async def apply(
        self, connection: AsyncConnection, ticket: Ticket, inputs: PartitionInputs, result: Look | NoLook
    ) -> Outcome:
        if not await record.lock(connection, inputs):
            # Something else was promised meanwhile, or the cluster is being deleted: look again, at that.
            return Go()
        promise = inputs.promise
        if isinstance(result, NoLook):
            if promise is None or not result.outage:
                return Wait(result.detail, recheck=result.recheck or self._quiet_interval)
            return await self._again(connection, inputs, promise, Again(result.detail, outage=True))
        if promise is None:
            changed = await record.write(connection, inputs, result)
            return self._wait("looked", changed=changed)
        return await self._keep(connection, ticket, inputs, promise, result)

    def _wait(self, reason: str, *, changed: bool) -> Outcome:
        interval = self._change_interval if changed else self._quiet_interval
        return Wait(reason, recheck=interval * self._draw.uniform(0.9, 1.1))

    async def _keep(
        self, connection: AsyncConnection, ticket: Ticket, inputs: PartitionInputs, promise: Promise, found: Look
    ) -> Outcome:
        """Bring the operation further, from what was seen."""
        partition = next(each for each in inputs.records if each.id == promise.partition_id)
        decision = decide(promise, partition, found)
        fulfilled = isinstance(decision, Reached) and partition.wish is not Wish.GONE
        await record.write(connection, inputs, found, frozenset({partition.id}) if fulfilled else frozenset())
        match decision:
            case Reached():
                await record.record_step(connection, inputs, promise, "succeeded")
                await self._end(connection, inputs, promise, None)
                return self._wait("done", changed=True)
            case Announce():
                await record.mark_reset(connection, inputs, promise, ticket.fence)
                return Go()
            case Sent(detail=detail):
                await record.mark_reset(connection, inputs, promise, ticket.fence, confirmed=True)
                return await self._pending(connection, inputs, promise, detail)
            case Pending(detail=detail):
                return await self._pending(connection, inputs, promise, detail)
            case Again():
                return await self._again(connection, inputs, promise, decision)
            case GiveUp(problem=problem):
                return await self._give_up(connection, inputs, promise, problem)

    async def _pending(
        self, connection: AsyncConnection, inputs: PartitionInputs, promise: Promise, detail: str
    ) -> Outcome:
        if detail != promise.detail:
            await record.record_step(connection, inputs, promise, "running", detail=detail)
        return Wait(detail, recheck=self._change_interval)

    async def _again(
        self, connection: AsyncConnection, inputs: PartitionInputs, promise: Promise, again: Again
    ) -> Outcome:
        failures = promise.attempts + 1
        limit = OUTAGE_ATTEMPTS if again.outage else self._attempts
        final = promise.kind != REMOVE and not promise.undoing
        if final and (failures >= limit or promise.overdue):
            problem = late() if promise.overdue else no_good(again.detail)
            return await self._give_up(connection, inputs, promise, problem)
        await record.record_step(connection, inputs, promise, "running", detail=again.detail, failed=True)
        return Wait(again.detail, recheck=backoff(failures, self._draw, first=self._change_interval))

    async def _give_up(
        self, connection: AsyncConnection, inputs: PartitionInputs, promise: Promise, problem: Problem
    ) -> Outcome:
        """A partition that could not be made is removed, whatever there is of it; one that was there stays."""
        await record.record_step(connection, inputs, promise, "failed", detail=problem.detail, failed=True)
        if promise.kind == CREATE:
            await record.undo(connection, inputs, promise, problem.document())
            return Go()
        await record.keep(connection, inputs, promise)
        await self._end(connection, inputs, promise, problem.document())
        return self._wait("given up", changed=True)

    async def _end(
        self,
        connection: AsyncConnection,
        inputs: PartitionInputs,
        promise: Promise,
        error: dict[str, object] | None,
    ) -> None:
        failed = error is not None or promise.undoing
        await end_operation(
            connection,
            project_id=inputs.project_id,
            cluster_id=inputs.cluster_id,
            state=(OperationState.FAILED if failed else OperationState.SUCCEEDED).value,
            error=error,
        )
        failpoint("partitions.operation_ended")
