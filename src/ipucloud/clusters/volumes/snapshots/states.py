"""The states of a snapshot, as data; the documentation's diagram is drawn from it."""

from __future__ import annotations

from ipucloud.contract.snapshots import SnapshotState
from ipucloud.kernel.transitions import TransitionTable

_S = SnapshotState
SNAPSHOT_STATES: TransitionTable[SnapshotState] = TransitionTable(
    "snapshot",
    _S.CREATING,
    {
        _S.CREATING: frozenset({_S.AVAILABLE, _S.ERROR, _S.DELETING}),
        _S.AVAILABLE: frozenset({_S.DELETING}),
        _S.DELETING: frozenset({_S.DELETED}),
        _S.DELETED: frozenset(),
        _S.ERROR: frozenset({_S.DELETING}),
    },
)
