"""Kinds of operations on clusters: what all of them do besides their steps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import open_interval
from ipucloud.clusters import step_objects
from ipucloud.clusters.builds import end_late
from ipucloud.clusters.fault_reports.store import close_confirmed
from ipucloud.clusters.faults import apply_reports
from ipucloud.clusters.inputs import ClusterAct, ClusterInputs
from ipucloud.clusters.operations.effects import enter_state, show_progress
from ipucloud.clusters.repairs.store import REPLACE_HARDWARE, operation_ended
from ipucloud.clusters.states import BILLABLE
from ipucloud.clusters.steps.faulty import Faulty
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.contract.clusters import ClusterState
from ipucloud.kernel.errors import DEADLINE_EXCEEDED, PROVISIONING_FAILED, SITE_REFUSED, ErrorCode, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.kind import Billing, DeclarationError, Ending, Kind, OpenOperation
from ipucloud.operations.results import Failed
from ipucloud.operations.step import Step

CREATES = "cluster.create"
WORK_KIND = "cluster"
"""Kind of the work items that carry out operations on clusters; the key is the cluster's id."""

ClusterStep: TypeAlias = Step[ClusterAct, ClusterInputs]

VIPU = frozenset({"V-IPU"})
"""Required by steps at the V-IPU controller."""
VIPU_USERS = VIPU | {"V-IPU users"}
"""Required by steps that deal with users of a secure V-IPU controller."""
MACHINES = frozenset({"machines of their own"})
"""Required by steps that switch IPU machines apart from their hosts."""

_WITHOUT_VIPU = MappingProxyType(
    {
        "V-IPU": "does not apply: the IPUs are devices of the server itself, not under V-IPU",
        "machines of their own": "does not apply: the server is switched on when its image is written",
    }
)
_WITHOUT_USERS = MappingProxyType({"V-IPU users": "does not apply: the V-IPU controller has no users"})


def target_of(step: ClusterStep, cluster: ClusterInputs) -> str:
    """What the step talks to at the site, for customers; names of the cluster's own objects only."""
    if step.asks is not None:
        return step.asks(cluster)
    return step_objects.controller(cluster) if step.requires >= VIPU else step_objects.site(cluster)


def lacking(allocated_through: AllocatedThrough, *, secure: bool) -> Mapping[str, str]:
    """What such a cluster lacks, as in `operations.step.plan_of`. `secure`: its controller has users."""
    if allocated_through is not AllocatedThrough.V_IPU:
        return _WITHOUT_VIPU
    return MappingProxyType({}) if secure else _WITHOUT_USERS


@dataclass(frozen=True, kw_only=True)
class ClusterKind(Kind[ClusterAct, ClusterInputs]):
    """A kind of operation on clusters, carried out by the work items `WORK_KIND`. Raises DeclarationError.

    `beside_partitions`: operations on the cluster's partitions may run meanwhile. Otherwise neither begins while one of
    the other runs, unless it pre-empts it.
    `ends_waits`: it does not wait for a resize that waits for capacity, which it ends.
    `other_hardware` decides when a step failed because of hardware: None when the operation goes on with other, by the
    steps of `again`; otherwise the failure, with the reason. `again`: by default those of `replacing` and its own.
    `goes_without`: whether it goes on without servers whose hosts have failed.
    """

    beside_partitions: bool = False
    ends_waits: bool = False
    other_hardware: Callable[[AsyncConnection, ClusterInputs, Faulty], Awaitable[Failed | None]] | None = None
    goes_without: Callable[[AsyncConnection, ClusterInputs, Faulty], Awaitable[bool]] | None = None
    again: tuple[ClusterStep, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.billing in {Billing.STARTS, Billing.PAUSES} and self.success not in BILLABLE:
            raise DeclarationError(f"{self.name}: it starts billing and leads to {self.success}, which is not billed")
        if self.billing is Billing.ENDS and self.success in BILLABLE:
            raise DeclarationError(f"{self.name}: it ends billing and leads to {self.success}, which is billed")

    def lacking(self, inputs: ClusterInputs) -> Mapping[str, str]:
        return lacking(inputs.allocated_through, secure=inputs.access is not None)

    def unbegun(self, inputs: ClusterInputs) -> bool:
        """A create that waits has made its cluster, which its undo removes."""
        return self.name != CREATES and inputs.wait is not None and not inputs.wait.granted

    async def step_recorded(self, connection: AsyncConnection, inputs: ClusterInputs, blocked_by: str | None) -> None:
        await show_progress(connection, inputs, blocked_by)

    async def instead(
        self, connection: AsyncConnection, inputs: ClusterInputs, failed: Failed
    ) -> Failed | Sequence[ClusterStep]:
        if self.other_hardware is None or not isinstance(failed, Faulty):
            return failed
        if self.goes_without is not None and await self.goes_without(connection, inputs, failed):
            return self._from_here(inputs.operation)
        declined = await self.other_hardware(connection, inputs, failed)
        return (self.again or (*self.replacing, *self.steps)) if declined is None else declined

    def _from_here(self, operation: OpenOperation) -> Sequence[ClusterStep]:
        undo = self.undo_of(operation)
        steps = self.steps if undo is None else undo.steps
        return steps[[step.name for step in steps].index(operation.step.name) :]

    async def before_end(self, connection: AsyncConnection, inputs: ClusterInputs, ending: Ending) -> None:
        if ending.state is not None:
            if self.name == CREATES:
                await end_late(connection, project_id=inputs.project_id, cluster_id=inputs.id)
            reason = None if ending.state in BILLABLE else ending.reason
            await enter_state(connection, inputs, ClusterState(ending.state), reason=reason)
            await close_confirmed(connection, project_id=inputs.project_id, cluster_id=inputs.id)
        elif self.unbegun(inputs):
            await show_progress(connection, inputs, None)
        if self.name == REPLACE_HARDWARE:
            await operation_ended(
                connection,
                project_id=inputs.project_id,
                cluster_id=inputs.id,
                operation_id=inputs.operation.id,
                ended=ending.operation,
            )

    async def after_end(self, connection: AsyncConnection, inputs: ClusterInputs, ending: Ending) -> None:
        """Billing comes last in the lock order."""
        if self.billing in {Billing.STARTS, Billing.PAUSES} and ending.state in BILLABLE:
            await open_interval(connection, project_id=inputs.project_id, cluster_id=inputs.id)
            failpoint("cluster.interval_opened")
            await apply_reports(connection, project_id=inputs.project_id, cluster_id=inputs.id)


def fails_with(consequence: str, retry: str | None) -> Callable[[OpenOperation, Failed], Problem]:
    """The problem of a step that is given up.

    `consequence` says what becomes of the cluster, `retry` what the customer can do, unless that cannot help: when the
    site refused the step. None: only an operator can do something.
    """

    def problem(operation: OpenOperation, failed: Failed) -> Problem:
        code: ErrorCode = PROVISIONING_FAILED
        if operation.overdue:
            code = DEADLINE_EXCEEDED
        elif failed.final:
            code = SITE_REFUSED
        if retry is None or code is SITE_REFUSED:
            advice = "Contact the operator with the operation's id; repeating the request does not help."
        else:
            advice = f"{retry}; if that fails too, contact the operator with the operation's id."
        return Problem(code, f"Step {operation.step.name} failed: {failed.detail}. {consequence} {advice}")

    return problem
