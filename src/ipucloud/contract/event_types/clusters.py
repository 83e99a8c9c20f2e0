"""Types of events about clusters, their operations, partitions and maintenance."""

from __future__ import annotations

from ipucloud.contract.event_payloads import clusters, projects
from ipucloud.contract.event_types.registry import register, register_states

CLUSTER_CREATED = register("cluster.created", "A cluster was requested.", payload=clusters.ClusterRequested)
CLUSTER_UPDATED = register(
    "cluster.updated", "A request changed fields of the cluster.", payload=clusters.ClusterChanged
)
CLUSTER_SUSPEND_FORCED = register(
    "cluster.suspend_forced",
    "A budget, cost limit, empty account or unpaid invoice suspends the cluster.",
    payload=clusters.ForcedSuspend,
)
CLUSTER_EXPIRING = register(
    "cluster.expiring",
    "The cluster and its data will be deleted within an hour.",
    payload=clusters.ClusterExpires,
)
CLUSTER_SCHEDULE_STARTED = register(
    "cluster.schedule_started",
    "The schedule suspends or resumes the cluster.",
    payload=clusters.ScheduleStarts,
)
CLUSTER_SCHEDULE_WAITING = register(
    "cluster.schedule_waiting",
    "A scheduled action is due but has to wait.",
    payload=clusters.ScheduleWaits,
)
CLUSTER_SCHEDULE_MISSED = register(
    "cluster.schedule_missed",
    "The schedule missed an action before the next was due.",
    payload=clusters.ScheduleMisses,
)
CLUSTER_IDLE_SUSPENDED = register(
    "cluster.idle_suspended",
    "The idle cluster is being suspended.",
    payload=clusters.SuspendedIdle,
)
CLUSTER_PREEMPTION_SCHEDULED = register(
    "cluster.preemption_scheduled",
    "The preemptible cluster will be suspended for one that waits.",
    payload=clusters.PreemptionScheduled,
)
CLUSTER_PREEMPTION_WITHDRAWN = register(
    "cluster.preemption_withdrawn",
    "The preemptible cluster will not be suspended after all.",
    payload=clusters.PreemptionWithdrawn,
)
CLUSTER_PREEMPTED = register(
    "cluster.preempted",
    "The preemptible cluster is being suspended for one that waits.",
    payload=clusters.ClusterPreempted,
)
CLUSTER_DEGRADED = register(
    "cluster.degraded",
    "Hardware of the cluster does not work, or has changed.",
    payload=clusters.ClusterDegraded,
)
CLUSTER_RECOVERED = register("cluster.recovered", "All hardware of a degraded cluster works again.")
CLUSTER_HARDWARE_ISOLATED = register(
    "cluster.hardware_isolated",
    "Failed hardware was left out of the clean-up and is held back until it is clean.",
    payload=clusters.HardwareFailed,
    operators=True,
)
CLUSTER_HARDWARE_REPLACED = register(
    "cluster.hardware_replaced",
    "Other hardware replaces what failed or is to be maintained.",
    payload=clusters.HardwareFailed,
    operators=True,
)
CLUSTER_SERVERS_REBUILT = register(
    "cluster.servers_rebuilt",
    "Poplar servers were rebuilt; their disks are new unless they were kept.",
    payload=clusters.ServersRebuilt,
)
CLUSTER_DELETE_FORCED = register(
    "cluster.delete_forced",
    "An operator deletes the cluster without waiting for failed hardware.",
    payload=clusters.DeleteForced,
    operators=True,
)
MAINTENANCE_ANNOUNCED = register(
    "maintenance.announced",
    "Hardware of the cluster will be maintained.",
    "cluster",
    payload=clusters.MaintenanceOf,
    operators=True,
)
CLUSTER_REPAIR_SCHEDULED = register(
    "cluster.repair_scheduled",
    "A repair was scheduled or rescheduled.",
    payload=clusters.RepairScheduled,
)
CLUSTER_REPAIR_STARTED = register(
    "cluster.repair_started",
    "The scheduled repair started.",
    payload=clusters.RepairStarted,
    operators=True,
)
CLUSTER_REPAIR_ENDED = register(
    "cluster.repair_ended",
    "The scheduled repair ended or was called off.",
    payload=clusters.RepairEnded,
    operators=True,
)
CLUSTER_REPAIR_WAITING = register(
    "cluster.repair_waiting",
    "The scheduled repair is due but has to wait.",
    payload=clusters.RepairWaits,
    operators=True,
)
CLUSTER_RESIZED = register(
    "cluster.resized", "The cluster has its new size and is ready.", payload=clusters.ClusterResized
)
register_states(
    "cluster",
    {
        "active": "The cluster is ready for use.",
        "resizing": "The cluster is being resized.",
        "suspending": "The cluster is being suspended.",
        "suspended": "The cluster is suspended and its machines are released.",
        "resuming": "The cluster is being resumed.",
        "rebuilding": "The cluster is being repaired, or its servers rebuilt.",
        "error": "The cluster failed. You can delete it.",
        "deleting": "The cluster is being deleted.",
        "deleted": "The cluster is deleted.",
    },
    clusters.ClusterEntered,
)
OPERATION_CREATED = register(
    "operation.created", "An operation was accepted.", "cluster", "export", payload=projects.OperationOf, account=True
)
register_states(
    "operation",
    {
        "cancelling": "Cancellation of the operation was requested.",
        "succeeded": "The operation succeeded.",
        "failed": "The operation failed; read it for the error.",
        "cancelled": "The operation was cancelled and undone.",
    },
    projects.OperationOf,
    "cluster",
    "export",
    of_account=("succeeded", "failed"),
)
register_states(
    "partition",
    {
        "creating": "The partition is being created.",
        "active": "The partition is ready for use.",
        "resetting": "The partition is being reset.",
        "error": "The controller reports an error.",
        "unknown": "The controller reports an unknown state.",
        "missing": "The partition disappeared without a request.",
        "removing": "The partition is being removed.",
        "removed": "The partition is removed.",
    },
    clusters.PartitionOf,
)
