"""The steps of each operation on a cluster. Every step is safe to run again from its start, at any time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import MappingProxyType

from ipucloud.catalogue.models import AllocatedThrough
from ipucloud.clusters.states import ClusterState, Stage
from ipucloud.operations.plan import PlannedStep

CREATE = "cluster.create"
DELETE = "cluster.delete"
SUSPEND = "cluster.suspend"
RESUME = "cluster.resume"
HEAL = "cluster.heal"
ROTATE_KEY = "cluster.rotate-key"
WORK_KIND = "cluster"

CREATE_PLAN: tuple[PlannedStep, ...] = (
    PlannedStep("attach_network", Stage.NETWORK),
    PlannedStep("power_on_machines", Stage.IPU_SERVERS),
    PlannedStep("create_allocation", Stage.VIPU_CONTROLLER),
    PlannedStep("create_vipu_user", Stage.VIPU_CONTROLLER),
    PlannedStep("test_cluster", Stage.VIPU_CONTROLLER),
    PlannedStep("create_partition", Stage.VIPU_CONTROLLER),
    PlannedStep("deploy_poplar_servers", Stage.POPLAR_SERVERS),
    PlannedStep("check_ipus", Stage.POST_DEPLOY_SETUP),
)

CLEAN_UP_PLAN: tuple[PlannedStep, ...] = (
    PlannedStep("wipe_poplar_servers", Stage.CLUSTER_CLEAN_UP),
    PlannedStep("remove_partitions", Stage.CLUSTER_CLEAN_UP),
    PlannedStep("remove_vipu_user", Stage.CLUSTER_CLEAN_UP),
    PlannedStep("remove_allocation", Stage.CLUSTER_CLEAN_UP),
    PlannedStep("detach_network", Stage.CLUSTER_CLEAN_UP),
    PlannedStep("power_off_machines", Stage.CLUSTER_CLEAN_UP),
    PlannedStep("verify_clean", Stage.CLUSTER_CLEAN_UP),
)
DELETE_PLAN = CLEAN_UP_PLAN

SUSPEND_PLAN: tuple[PlannedStep, ...] = (
    PlannedStep("switch_off_poplar_servers", Stage.CLUSTER_SUSPEND),
    PlannedStep("remove_partitions", Stage.CLUSTER_SUSPEND),
    PlannedStep("remove_vipu_user", Stage.CLUSTER_SUSPEND),
    PlannedStep("remove_allocation", Stage.CLUSTER_SUSPEND),
    PlannedStep("detach_network", Stage.CLUSTER_SUSPEND),
    PlannedStep("power_off_machines", Stage.CLUSTER_SUSPEND),
    PlannedStep("verify_suspended", Stage.CLUSTER_SUSPEND),
)
RESUME_PLAN: tuple[PlannedStep, ...] = (
    PlannedStep("attach_network", Stage.CLUSTER_RESUME),
    PlannedStep("power_on_machines", Stage.CLUSTER_RESUME),
    PlannedStep("create_allocation", Stage.CLUSTER_RESUME),
    PlannedStep("create_vipu_user", Stage.CLUSTER_RESUME),
    PlannedStep("test_cluster", Stage.CLUSTER_RESUME),
    PlannedStep("create_partition", Stage.CLUSTER_RESUME),
    PlannedStep("switch_on_poplar_servers", Stage.CLUSTER_RESUME),
    PlannedStep("check_ipus", Stage.CLUSTER_RESUME),
)


@dataclass(frozen=True, slots=True)
class Undo:
    """How an operation is undone: by which steps, and where that leaves the cluster. `what` begins a reason."""

    plan: tuple[PlannedStep, ...]
    what: str
    cancelled: ClusterState
    failed: ClusterState


UNDO = MappingProxyType(
    {
        CREATE: Undo(CLEAN_UP_PLAN, "creation", ClusterState.DELETED, ClusterState.ERROR),
        RESUME: Undo(SUSPEND_PLAN, "the resume", ClusterState.SUSPENDED, ClusterState.SUSPENDED),
    }
)
"""The operations that undo what they did when they fail or are cancelled. Others end as they are."""

ROTATE_KEY_PLAN = (PlannedStep("replace_access_key", Stage.VIPU_CONTROLLER),)

_NO_CONTROLLER = "does not apply: the IPUs are devices of the server itself, not under V-IPU"
SKIPPED_WITHOUT_VIPU = MappingProxyType(
    {"power_on_machines": "does not apply: the server is switched on when its image is written"}
    | dict.fromkeys(
        (
            "create_allocation",
            "create_vipu_user",
            "test_cluster",
            "create_partition",
            "remove_partitions",
            "remove_vipu_user",
            "remove_allocation",
        ),
        _NO_CONTROLLER,
    )
)
"""The steps that a server with IPUs of its own has no use for, and what the operation says of each."""

SKIPPED_WITHOUT_USERS = MappingProxyType(
    dict.fromkeys(("create_vipu_user", "remove_vipu_user"), "does not apply: the V-IPU controller takes no users")
)


def plan_for(
    allocated_through: AllocatedThrough, plan: Iterable[PlannedStep], *, secure: bool
) -> tuple[PlannedStep, ...]:
    """The plan, with the steps marked as skipped that such machines, or their controller, have no use for.

    `secure`: the controller has users, who prove themselves with access keys.
    """
    skipped = SKIPPED_WITHOUT_VIPU
    if allocated_through is AllocatedThrough.V_IPU:
        skipped = MappingProxyType({}) if secure else SKIPPED_WITHOUT_USERS
    return tuple(replace(step, skipped=skipped.get(step.name)) for step in plan)


def repair_plan(*names: str) -> tuple[PlannedStep, ...]:
    """The steps of a create that bring back what is missing of a cluster in use; they leave alone what is there."""
    return tuple(step for step in CREATE_PLAN if step.name in names)
