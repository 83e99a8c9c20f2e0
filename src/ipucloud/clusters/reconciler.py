"""Moves a cluster towards what its open operation promises: one step at a time, from what the site shows."""

from __future__ import annotations

import random
from typing import Literal

import orjson
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.usage import open_interval
from ipucloud.clusters import progress
from ipucloud.clusters.build import BUILD_STEPS
from ipucloud.clusters.clean_up import CLEAN_UP_STEPS
from ipucloud.clusters.inputs import ClusterInputs, load
from ipucloud.clusters.plans import CREATE, DELETE, HEAL, RESUME, ROTATE_KEY, SUSPEND, UNDO, WORK_KIND, plan_for
from ipucloud.clusters.results import Achieved, Cancelled, Failed, Pending, StepResult
from ipucloud.clusters.states import ClusterState
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import DEADLINE_EXCEEDED, PROVISIONING_FAILED, SITE_REFUSED, ErrorCode, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.sealing import Keys
from ipucloud.operations.plan import PlannedStep
from ipucloud.operations.states import OperationState
from ipucloud.operations.store import end_operation
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait, backoff
from ipucloud.reconcile.reconciler import Ticket
from ipucloud.site.errors import SiteBusy, SiteRefused, SiteUnknown
from ipucloud.site.ports import Sites

log = structlog.get_logger(__name__)

OUTAGE_ATTEMPTS = 20
"""Tries of a step while the site does not answer: with the backoff's cap of a minute, about a quarter of an hour."""

_STEPS = BUILD_STEPS | CLEAN_UP_STEPS
_TAKEN_DOWN = {DELETE: ClusterState.DELETED, SUSPEND: ClusterState.SUSPENDED}
_CONSEQUENCE = {
    CREATE: "What was built is taken down and nothing is charged. Create the cluster again, or ask the operator with"
    " the operation's id.",
    RESUME: "What was built is taken down, nothing is charged, and the cluster is suspended as before. Resume it again,"
    " or ask the operator with the operation's id.",
    HEAL: "Nothing was taken from the cluster; an operator has to look.",
    ROTATE_KEY: "Which keys the controller takes now is not sure. Replace the key again.",
}


class ClusterReconciler:
    """Load the open operation's current step, take it, write what came of it.

    A step that fails is repeated `attempts` times with backoff, then the operation undoes what it did. Clean-up is
    repeated until it holds. From `keys` access keys of servers are derived.
    """

    kind = WORK_KIND

    def __init__(
        self,
        sites: Sites,
        *,
        poll_interval: float,
        request_life: float,
        attempts: int,
        billing_starts_at: Literal["ready", "requested"],
        draw: random.Random,
        keys: Keys | None = None,
    ) -> None:
        self._sites = sites
        self._poll_interval = poll_interval
        self._request_life = request_life
        self._attempts = attempts
        self._billing_starts_at = billing_starts_at
        self._draw = draw
        self._keys = keys

    async def load(self, connection: Statements, ticket: Ticket) -> ClusterInputs | Outcome:
        return await load(connection, ticket, self._request_life, self._keys) or Done()

    async def act(self, ticket: Ticket, inputs: ClusterInputs) -> StepResult:
        structlog.contextvars.bind_contextvars(
            project_id=str(inputs.project_id),
            cluster_id=str(inputs.id),
            operation_id=str(inputs.operation_id),
            request_id=inputs.request_id,
            step=inputs.step.name,
        )
        if not inputs.undoing and inputs.operation_state == OperationState.CANCELLING:
            failpoint("cluster.cancel_seen")
            return Cancelled()
        if inputs.step.name in BUILD_STEPS and inputs.overdue:
            return Failed("the operation took longer than it may", final=True)
        site = self._sites.at(inputs.vipu, ticket.remaining)
        try:
            return await _STEPS[inputs.step.name](site, inputs)
        except SiteRefused as error:
            log.warning("site_refused", error=str(error))
            return Failed("the site refused the step", final=True)
        except SiteUnknown as error:
            log.warning("site_unknown", error=str(error))
            return Failed("the site did not answer; its state is read before anything else is asked", outage=True)
        except SiteBusy as error:
            log.warning("site_busy", error=str(error))
            return Failed("the site cannot do it at the moment", outage=True)

    async def apply(
        self, connection: AsyncConnection, ticket: Ticket, inputs: ClusterInputs, result: StepResult
    ) -> Outcome:
        if not await progress.lock_operation(connection, inputs):
            # A delete took the operation's place while this step ran, or a cancel was asked for: look again, at that.
            return Go()
        match result:
            case Achieved():
                return await self._advance(connection, inputs, result)
            case Pending(detail=detail, recheck=recheck):
                if detail != inputs.step.detail:
                    await progress.record_step(connection, inputs, "running", detail=detail)
                return Wait(detail, recheck=self._poll_interval if recheck is None else recheck)
            case Failed():
                return await self._fail(connection, inputs, result)
            case Cancelled():
                await progress.append_undo(connection, inputs, _undo(inputs), error=None)
                await progress.record_step(connection, inputs, "skipped", detail="cancelled")
                return Go()

    async def _advance(self, connection: AsyncConnection, cluster: ClusterInputs, result: Achieved) -> Outcome:
        await progress.record_servers(connection, cluster, result.servers)
        await progress.record_step(connection, cluster, "succeeded")
        if cluster.step.name == "switch_off_poplar_servers":
            await progress.record_switched_off(connection, cluster)
        elif cluster.step.name == "power_off_machines":
            await progress.release_machines(connection, cluster)
        if not cluster.step.last:
            return Go()
        if cluster.operation_kind in {CREATE, RESUME} and not cluster.undoing:
            await self._activate(connection, cluster)
        elif cluster.operation_kind in {HEAL, ROTATE_KEY}:
            await self._settle(connection, cluster)
        else:
            await self._bury(connection, cluster)
        return Done()

    async def _activate(self, connection: AsyncConnection, cluster: ClusterInputs) -> None:
        await progress.enter_state(connection, cluster, ClusterState.ACTIVE)
        await self._end(connection, cluster, OperationState.SUCCEEDED)
        requested = self._billing_starts_at == "requested" and cluster.operation_kind == CREATE
        await open_interval(
            connection,
            project_id=cluster.project_id,
            cluster_id=cluster.id,
            since=cluster.created_at if requested else None,
        )
        failpoint("cluster.interval_opened")

    async def _bury(self, connection: AsyncConnection, cluster: ClusterInputs) -> None:
        """The end of all that takes a cluster down: a delete, a suspend, and what was cancelled or failed."""
        await progress.free_machines(connection, cluster)
        if not cluster.undoing:
            await progress.enter_state(connection, cluster, _TAKEN_DOWN[cluster.operation_kind])
            await self._end(connection, cluster, OperationState.SUCCEEDED)
            return
        undo = UNDO[cluster.operation_kind]
        if cluster.operation_state == OperationState.CANCELLING:
            await progress.enter_state(connection, cluster, undo.cancelled, reason=f"{undo.what} was cancelled")
            await self._end(connection, cluster, OperationState.CANCELLED)
        else:
            reason = f"{undo.what} failed; its operation says why"
            await progress.enter_state(connection, cluster, undo.failed, reason=reason)
            await self._end(connection, cluster, OperationState.FAILED)

    async def _settle(self, connection: AsyncConnection, cluster: ClusterInputs) -> None:
        """The end of what leaves the cluster in its state. Machines that a heal cleaned up are free."""
        if cluster.step.name == "verify_clean":
            await progress.free_machines(connection, cluster)
        await self._end(connection, cluster, OperationState.SUCCEEDED)

    async def _end(
        self,
        connection: AsyncConnection,
        cluster: ClusterInputs,
        state: OperationState,
        error: dict[str, object] | None = None,
    ) -> None:
        await end_operation(
            connection, project_id=cluster.project_id, cluster_id=cluster.id, state=state.value, error=error
        )
        failpoint("cluster.operation_ended")

    async def _fail(self, connection: AsyncConnection, cluster: ClusterInputs, failure: Failed) -> Outcome:
        failures = cluster.step.attempts + 1
        limit = OUTAGE_ATTEMPTS if failure.outage else self._attempts
        if cluster.step.name in BUILD_STEPS and (failure.final or failures >= limit):
            return await self._give_up(connection, cluster, failure)
        await progress.record_step(connection, cluster, "running", detail=failure.detail, failed=True)
        return Wait(failure.detail, recheck=backoff(failures, self._draw, first=self._poll_interval))

    async def _give_up(self, connection: AsyncConnection, cluster: ClusterInputs, failure: Failed) -> Outcome:
        """A create or resume is undone. Others end as they are: what they built belongs to a cluster in use."""
        problem = _problem(cluster, failure)
        undone = cluster.operation_kind in UNDO
        if undone:
            await progress.append_undo(connection, cluster, _undo(cluster), error=orjson.dumps(problem).decode())
        await progress.record_step(connection, cluster, "failed", detail=failure.detail, failed=True)
        if undone:
            return Go()
        await self._end(connection, cluster, OperationState.FAILED, problem)
        return Done()


def _undo(cluster: ClusterInputs) -> tuple[PlannedStep, ...]:
    """The steps that undo the cluster's operation."""
    plan = UNDO[cluster.operation_kind].plan
    return plan_for(cluster.allocated_through, plan, secure=cluster.access is not None)


def _problem(cluster: ClusterInputs, failure: Failed) -> dict[str, object]:
    kind: ErrorCode = PROVISIONING_FAILED
    if cluster.overdue:
        kind = DEADLINE_EXCEEDED
    elif failure.final:
        kind = SITE_REFUSED
    sentence = f"Step {cluster.step.name} failed: {failure.detail}. {_CONSEQUENCE[cluster.operation_kind]}"
    return Problem(kind, sentence).document()
