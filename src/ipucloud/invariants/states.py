"""Cluster states by what must be true in them, as parameters of the rules."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ipucloud.clusters.plans import CREATE, DELETE, HEAL, RESUME, SUSPEND
from ipucloud.clusters.states import BILLABLE, ClusterState

WORKING = frozenset({ClusterState.ACTIVE, ClusterState.DEGRADED})
"""The customer has the cluster, and nothing is under way."""

WHOLE = WORKING | {
    ClusterState.CREATING,
    ClusterState.REBOOTING,
    ClusterState.REBUILDING,
    ClusterState.SUSPENDING,
    ClusterState.RESUMING,
}
"""The cluster holds exactly the machines it was promised."""

GONE = frozenset({ClusterState.ERROR, ClusterState.DELETED})
"""Nothing of the cluster is left but its records."""

SERVED = WHOLE | {ClusterState.SUSPENDED}
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
        "create": CREATE,
        "delete": DELETE,
        "heal": HEAL,
        "suspend": SUSPEND,
        "resume": RESUME,
    }
)
