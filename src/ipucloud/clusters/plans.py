"""The steps of each operation on a cluster. Every step is safe to run again from its start, at any time."""

from __future__ import annotations

from ipucloud.clusters.states import Stage
from ipucloud.operations.plan import PlannedStep

CREATE = "cluster.create"
DELETE = "cluster.delete"
HEAL = "cluster.heal"
WORK_KIND = "cluster"

CREATE_PLAN: tuple[PlannedStep, ...] = (
    PlannedStep("attach_network", Stage.NETWORK),
    PlannedStep("power_on_machines", Stage.IPU_SERVERS),
    PlannedStep("create_allocation", Stage.VIPU_CONTROLLER),
    PlannedStep("test_cluster", Stage.VIPU_CONTROLLER),
    PlannedStep("create_partition", Stage.VIPU_CONTROLLER),
    PlannedStep("deploy_poplar_servers", Stage.POPLAR_SERVERS),
    PlannedStep("check_ipus", Stage.POST_DEPLOY_SETUP),
)

CLEAN_UP_PLAN: tuple[PlannedStep, ...] = (
    PlannedStep("wipe_poplar_servers", Stage.CLUSTER_CLEAN_UP),
    PlannedStep("remove_partitions", Stage.CLUSTER_CLEAN_UP),
    PlannedStep("remove_allocation", Stage.CLUSTER_CLEAN_UP),
    PlannedStep("detach_network", Stage.CLUSTER_CLEAN_UP),
    PlannedStep("power_off_machines", Stage.CLUSTER_CLEAN_UP),
    PlannedStep("verify_clean", Stage.CLUSTER_CLEAN_UP),
)
DELETE_PLAN = CLEAN_UP_PLAN


def repair_plan(*names: str) -> tuple[PlannedStep, ...]:
    """The steps of a create that bring back what is missing of a cluster in use; they leave alone what is there."""
    return tuple(step for step in CREATE_PLAN if step.name in names)
