"""The states of a cluster, as data; the documentation's diagram is drawn from it."""

from __future__ import annotations

from ipucloud.contract.clusters import ClusterState
from ipucloud.kernel.transitions import TransitionTable

_S = ClusterState
_BUSY = frozenset({_S.ACTIVE, _S.DEGRADED, _S.ERROR, _S.DELETING})
_READY = frozenset({_S.ACTIVE, _S.DEGRADED, _S.RESIZING, _S.SUSPENDING, _S.REBUILDING, _S.ERROR, _S.DELETING})
CLUSTER_STATES: TransitionTable[ClusterState] = TransitionTable(
    "cluster",
    _S.CREATING,
    {
        _S.CREATING: frozenset({_S.ACTIVE, _S.ERROR, _S.DELETING, _S.DELETED}),
        _S.ACTIVE: _READY - {_S.ACTIVE},
        _S.DEGRADED: _READY - {_S.DEGRADED},
        _S.RESIZING: _BUSY | {_S.SUSPENDED},
        _S.SUSPENDING: _BUSY | {_S.SUSPENDED},
        _S.SUSPENDED: frozenset({_S.RESUMING, _S.ERROR, _S.DELETING}),
        _S.RESUMING: _BUSY | {_S.SUSPENDED},
        _S.REBUILDING: _BUSY | {_S.SUSPENDED},
        _S.ERROR: frozenset({_S.DELETING}),
        _S.DELETING: frozenset({_S.DELETED}),
        _S.DELETED: frozenset(),
    },
)
BILLABLE = frozenset({_S.ACTIVE, _S.DEGRADED})

PARTITIONS = "partitions"
"""Kind of the work items that reconcile the partitions of clusters in use; the key is the cluster's id."""
