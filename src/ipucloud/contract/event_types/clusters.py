"""Types of events about clusters, their operations, partitions and maintenance."""

from __future__ import annotations

from ipucloud.contract.event_payloads import clusters, projects
from ipucloud.contract.event_types.registry import register, register_states

CLUSTER_CREATED = register(
    "cluster.created", "A cluster was requested and its creation has begun.", payload=clusters.ClusterRequested
)
CLUSTER_UPDATED = register(
    "cluster.updated", "Fields of the cluster were changed by a request.", payload=clusters.ClusterChanged
)
CLUSTER_SUSPEND_FORCED = register(
    "cluster.suspend_forced",
    "The cluster is being suspended: because of a budget or a token's cost limit, or its account has no funds or did"
    " not pay.",
    payload=clusters.ForcedSuspend,
)
CLUSTER_EXPIRING = register(
    "cluster.expiring",
    "The cluster expires within an hour, and is deleted then with its data.",
    payload=clusters.ClusterExpires,
)
CLUSTER_SCHEDULE_STARTED = register(
    "cluster.schedule_started",
    "The cluster's schedule suspends or resumes it.",
    payload=clusters.ScheduleStarts,
)
CLUSTER_SCHEDULE_WAITING = register(
    "cluster.schedule_waiting",
    "The cluster's schedule has to wait although its time has come; it tries again.",
    payload=clusters.ScheduleWaits,
)
CLUSTER_SCHEDULE_MISSED = register(
    "cluster.schedule_missed",
    "The cluster's schedule could not do what was due before its next action was.",
    payload=clusters.ScheduleMisses,
)
CLUSTER_IDLE_SUSPENDED = register(
    "cluster.idle_suspended",
    "The cluster is being suspended because nobody uses it; `data` has the observation that proves it.",
    payload=clusters.SuspendedIdle,
)
CLUSTER_PREEMPTION_SCHEDULED = register(
    "cluster.preemption_scheduled",
    "The preemptible cluster will be suspended, because a cluster that waits needs its machines.",
    payload=clusters.PreemptionScheduled,
)
CLUSTER_PREEMPTION_WITHDRAWN = register(
    "cluster.preemption_withdrawn",
    "The preemptible cluster will not be suspended after all.",
    payload=clusters.PreemptionWithdrawn,
)
CLUSTER_PREEMPTED = register(
    "cluster.preempted",
    "The preemptible cluster is being suspended, because a cluster that waits needs its machines.",
    payload=clusters.ClusterPreempted,
)
CLUSTER_DEGRADED = register(
    "cluster.degraded",
    "Hardware of the cluster does not work as sold, or other hardware than before.",
    payload=clusters.ClusterDegraded,
)
CLUSTER_RECOVERED = register("cluster.recovered", "All hardware of a degraded cluster works again; it is active.")
CLUSTER_HARDWARE_ISOLATED = register(
    "cluster.hardware_isolated",
    "The cluster is cleaned up without hardware that has failed. Nobody gets it before it was cleaned.",
    payload=clusters.HardwareFailed,
    operators=True,
)
CLUSTER_HARDWARE_REPLACED = register(
    "cluster.hardware_replaced",
    "Hardware of the cluster failed or is to be maintained, and an operation takes other hardware instead.",
    payload=clusters.HardwareFailed,
    operators=True,
)
CLUSTER_SERVERS_REBUILT = register(
    "cluster.servers_rebuilt",
    "Poplar servers of the cluster were rebuilt; what was on their disks is lost, except what was to be kept.",
    payload=clusters.ServersRebuilt,
)
CLUSTER_DELETE_FORCED = register(
    "cluster.delete_forced",
    "An operator deletes the cluster, without waiting for hardware that has failed.",
    payload=clusters.DeleteForced,
    operators=True,
)
MAINTENANCE_ANNOUNCED = register(
    "maintenance.announced",
    "Hardware that the cluster holds will be maintained.",
    "cluster",
    payload=clusters.MaintenanceOf,
    operators=True,
)
CLUSTER_REPAIR_SCHEDULED = register(
    "cluster.repair_scheduled",
    "A repair of the cluster is scheduled, or scheduled for another time.",
    payload=clusters.RepairScheduled,
)
CLUSTER_REPAIR_STARTED = register(
    "cluster.repair_started",
    "The scheduled repair of the cluster has begun.",
    payload=clusters.RepairStarted,
    operators=True,
)
CLUSTER_REPAIR_ENDED = register(
    "cluster.repair_ended",
    "The scheduled repair of the cluster has ended, or will not take place.",
    payload=clusters.RepairEnded,
    operators=True,
)
CLUSTER_REPAIR_WAITING = register(
    "cluster.repair_waiting",
    "The scheduled repair of the cluster has to wait although its time has come.",
    payload=clusters.RepairWaits,
    operators=True,
)
CLUSTER_RESIZED = register(
    "cluster.resized", "The cluster has another size and is ready for use.", payload=clusters.ClusterResized
)
register_states(
    "cluster",
    {
        "active": "The cluster is ready for use.",
        "resizing": "The cluster's size is being changed.",
        "suspending": "The cluster is being suspended.",
        "suspended": "The cluster is suspended; its machines are released.",
        "resuming": "The suspended cluster is being resumed.",
        "rebuilding": "The cluster is being repaired with other hardware, or its Poplar servers are rebuilt.",
        "error": "The cluster failed and cannot be used. It can be deleted.",
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
        "cancelling": "A request was made to cancel the operation.",
        "succeeded": "The operation succeeded.",
        "failed": "The operation failed; read it for the error.",
        "cancelled": "The operation was cancelled and its steps were undone.",
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
        "error": "The V-IPU controller reports an error for the partition.",
        "unknown": "The V-IPU controller reports an unknown state for the partition.",
        "missing": "The partition disappeared from the V-IPU controller without a request to remove it.",
        "removing": "The partition is being removed.",
        "removed": "The partition is removed.",
    },
    clusters.PartitionOf,
)
