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

REPAIR_PLAN: tuple[PlannedStep, ...] = tuple(step for step in CREATE_PLAN if step.name != "test_cluster")
"""What a heal of a cluster in use takes: each step adds what is missing and leaves what is there to its customer.

The cluster test is left out, because it needs the machines for itself. A cluster that is gone is healed by
`CLEAN_UP_PLAN`.
"""
