"""The steps of each operation on a cluster. Every step is safe to run again from its start, at any time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

from ipucloud.catalogue.models import AllocatedThrough
from ipucloud.clusters.states import Stage
from ipucloud.operations.plan import PlannedStep

CREATE = "cluster.create"
DELETE = "cluster.delete"
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
