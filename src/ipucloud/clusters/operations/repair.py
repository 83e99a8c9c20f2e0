"""Repairing a cluster: create steps that restore missing objects, or a repeated teardown."""

from __future__ import annotations

from ipucloud.clusters.operations.create import CREATE
from ipucloud.clusters.operations.delete import TEARDOWN
from ipucloud.clusters.operations.kind import WORK_KIND, ClusterKind, ClusterStep, fails_with
from ipucloud.clusters.states import BILLABLE, CLUSTER_STATES
from ipucloud.contract.clusters import ClusterState
from ipucloud.operations.kind import Billing, Repeated

REPAIR = ClusterKind(
    name="cluster.repair",
    work_kind=WORK_KIND,
    steps=(*CREATE.steps, *TEARDOWN),
    states=CLUSTER_STATES,
    begins_in=BILLABLE | {ClusterState.ERROR, ClusterState.DELETED},
    during=None,
    success=None,
    undo=None,
    cancellable=False,
    repeated=Repeated.REFUSED,
    billing=Billing.UNCHANGED,
    deadline=3600,
    preceding=(),
    replacing=(),
    failure=fails_with("Nothing was removed from the cluster.", None),
)
"""Opened by the audit with the steps that it needs; the cluster stays in its state."""


def steps_of_create(*names: str) -> tuple[ClusterStep, ...]:
    """The create steps that restore missing objects of a cluster in use; existing ones are left alone."""
    return tuple(step for step in CREATE.steps if step.name in names)
