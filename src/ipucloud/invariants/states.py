"""Groups of cluster states, as parameters of the rules, and every kind of operation there is."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ipucloud.billing.exports.operation import EXPORT
from ipucloud.clusters.operations.all import CLUSTER_OPERATIONS
from ipucloud.clusters.operations.create import CREATE
from ipucloud.clusters.operations.delete import DELETE
from ipucloud.clusters.operations.rebuild import REBUILD
from ipucloud.clusters.operations.repair import REPAIR
from ipucloud.clusters.operations.replace import REPLACE
from ipucloud.clusters.operations.resize import RESIZE
from ipucloud.clusters.operations.resume import RESUME
from ipucloud.clusters.operations.suspend import SUSPEND
from ipucloud.clusters.states import BILLABLE
from ipucloud.contract.clusters import ClusterState
from ipucloud.operations.kind import Kind
from ipucloud.partitions.operations import PARTITION_OPERATIONS

WORKING = frozenset({ClusterState.ACTIVE, ClusterState.DEGRADED})
"""The customer has the cluster, and no operation changes it."""

WHOLE = WORKING | {
    ClusterState.CREATING,
    ClusterState.REBUILDING,
    ClusterState.SUSPENDING,
    ClusterState.RESUMING,
}
"""The cluster holds exactly the machines that it was allocated."""

GONE = frozenset({ClusterState.ERROR, ClusterState.DELETED})
"""Only the cluster's records are left."""

SERVED = WHOLE | {ClusterState.RESIZING, ClusterState.SUSPENDED}
"""The cluster has its hosts, with its Poplar servers."""

TAKEN_DOWN = GONE | {ClusterState.SUSPENDED}
"""Nothing of the cluster is under V-IPU."""

STATES: Mapping[str, object] = MappingProxyType(
    {
        "working": sorted(WORKING),
        "whole": sorted(WHOLE),
        "gone": sorted(GONE),
        "served": sorted(SERVED),
        "taken_down": sorted(TAKEN_DOWN),
        "billable": sorted(BILLABLE),
        "create": CREATE.name,
        "delete": DELETE.name,
        "repair": REPAIR.name,
        "suspend": SUSPEND.name,
        "resume": RESUME.name,
        "replace": REPLACE.name,
        "resize": RESIZE.name,
        "rebuild": REBUILD.name,
    }
)


_ALL: tuple[Kind[Any, Any], ...] = (*CLUSTER_OPERATIONS, *PARTITION_OPERATIONS, EXPORT)
KINDS: Mapping[str, Kind[Any, Any]] = MappingProxyType({kind.name: kind for kind in _ALL})

STEPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        kind.name: tuple(
            step.name
            for step in (
                *kind.preceding,
                *kind.steps,
                *kind.replacing,
                *(() if kind.undo is None else kind.undo.steps),
            )
        )
        for kind in KINDS.values()
    }
)
"""Names of the steps that an operation of a kind may have, those of its undo among them."""
