"""Takes the current step of a cluster's open operation."""

from __future__ import annotations

import random
from contextlib import suppress

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.inputs import ClusterInputs, Isolation, load
from ipucloud.clusters.operations.all import CLUSTER_OPERATIONS
from ipucloud.clusters.operations.effects import lock_operation
from ipucloud.clusters.operations.kind import WORK_KIND, target_of
from ipucloud.clusters.steps.faulty import examined
from ipucloud.clusters.waiting.queue import granted
from ipucloud.db.statements import Statements
from ipucloud.kernel.sealing import Keys, SealingError
from ipucloud.operations.frozen import blocked_by
from ipucloud.operations.results import Failed, Pending, StepResult
from ipucloud.operations.runner import Runner, unknown
from ipucloud.reconcile.outcomes import Done, Go, Outcome
from ipucloud.reconcile.reconciler import WorkItem
from ipucloud.site.ports import Site, SiteBusy, SiteError, SiteRefused, Sites, SiteUnknown

log = structlog.get_logger(__name__)

_BUILDS = frozenset(kind.name for kind in CLUSTER_OPERATIONS if kind.other_hardware is not None)
"""Kinds of operations that go on with other hardware. The others are of a cluster that keeps what it has."""


class ClusterReconciler:
    """Load the open operation's current step, take it, and write its outcome as the kind declares.

    The servers' access keys are derived from `keys`. A machine that takes longer than `power_limit` seconds to switch
    on has failed. `validated`: machines that clusters give back are validated before others get them.
    """

    kind = WORK_KIND

    def __init__(
        self,
        sites: Sites,
        *,
        poll_interval: float,
        request_life: float,
        attempts: int,
        draw: random.Random,
        isolation: Isolation,
        power_limit: float,
        validated: bool,
        keys: Keys | None = None,
    ) -> None:
        self._sites = sites
        self._runner = Runner(CLUSTER_OPERATIONS, attempts=attempts, pause=poll_interval, draw=draw)
        self._request_life = request_life
        self._isolation = isolation
        self._power_limit = power_limit
        self._validated = validated
        self._keys = keys

    async def load(self, connection: Statements, item: WorkItem) -> ClusterInputs | Outcome:
        inputs = await load(
            connection,
            item,
            request_life=self._request_life,
            keys=self._keys,
            isolation=self._isolation,
            power_limit=self._power_limit,
            validated=self._validated,
        )
        if inputs is None:
            return Done()
        return inputs if self._runner.knows(inputs.operation) else unknown(inputs.operation)

    async def act(self, item: WorkItem, inputs: ClusterInputs) -> StepResult:
        operation = inputs.operation
        structlog.contextvars.bind_contextvars(
            project_id=str(inputs.project_id),
            cluster_id=str(inputs.id),
            operation_id=str(operation.id),
            request_id=operation.request_id,
            step=operation.step.name,
        )
        decided = self._runner.decided(operation)
        if decided is not None:
            return decided
        step = self._runner.step(operation)
        if step.removes and inputs.frozen_until is not None:
            return Pending(blocked_by(inputs.region, inputs.frozen_until), blocked=True)
        site = self._sites.at(inputs.vipu, item.remaining)
        try:
            result = await step.act(site, inputs)
        except (SiteRefused, SiteUnknown, SiteBusy) as error:
            result = _not_answered(error, target_of(step, inputs))
        except SealingError as error:
            log.error("user_data_not_decrypted", error=str(error))
            return Failed("the user data cannot be decrypted; IPUCLOUD_SECRETS_KEY needs its key again", outage=True)
        return await self._examined(site, inputs, result)

    async def _examined(self, site: Site, inputs: ClusterInputs, result: StepResult) -> StepResult:
        """The result, or a failure in the end; of a step that builds, the hardware that keeps it from its end."""
        builds = inputs.operation.kind in _BUILDS and not self._runner.step(inputs.operation).endures
        if builds and isinstance(result, (Pending, Failed)) and self._runner.stuck(inputs.operation, result):
            with suppress(SiteError):  # the site is not well either, which the result says
                return await examined(site, inputs, result.detail) or self._runner.limited(inputs.operation, result)
        return self._runner.limited(inputs.operation, result)

    async def apply(
        self, connection: AsyncConnection, item: WorkItem, inputs: ClusterInputs, result: StepResult
    ) -> Outcome:
        if not await lock_operation(connection, inputs):
            # A delete replaced the operation while this step ran, or it is to be cancelled: continue with that.
            return Go()
        waits = inputs.wait is not None and not inputs.wait.granted
        if waits and await granted(connection, inputs.operation.id):
            return Go()  # its turn came meanwhile
        return await self._runner.apply(connection, inputs.operation, inputs, result)


def _not_answered(error: SiteRefused | SiteUnknown | SiteBusy, target: str) -> Failed:
    """The result of a step whose site did not do what it was asked for."""
    match error:
        case SiteRefused():
            log.warning("site_refused", error=str(error))
            return Failed(f"{target} refused the step", final=True)
        case SiteUnknown():
            log.warning("site_unknown", error=str(error))
            return Failed(f"{target} did not answer; the next check reads the state first", outage=True)
        case SiteBusy():
            log.warning("site_busy", error=str(error))
            return Failed(f"{target} cannot be reached, or cannot do it now", outage=True)
