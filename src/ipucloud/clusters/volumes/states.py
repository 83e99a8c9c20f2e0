"""The states of a volume, as data; the documentation's diagram is drawn from it."""

from __future__ import annotations

from ipucloud.contract.volumes import VolumeState
from ipucloud.kernel.transitions import TransitionTable

_S = VolumeState
VOLUME_STATES: TransitionTable[VolumeState] = TransitionTable(
    "volume",
    _S.CREATING,
    {
        _S.CREATING: frozenset({_S.AVAILABLE, _S.ERROR, _S.DELETING}),
        _S.AVAILABLE: frozenset({_S.ATTACHING, _S.RESIZING, _S.DELETING}),
        _S.ATTACHING: frozenset({_S.ATTACHED, _S.DETACHING}),
        _S.ATTACHED: frozenset({_S.ATTACHING, _S.DETACHING, _S.RESIZING}),
        _S.DETACHING: frozenset({_S.AVAILABLE}),
        _S.RESIZING: frozenset({_S.AVAILABLE, _S.ATTACHING, _S.DETACHING}),
        _S.DELETING: frozenset({_S.DELETED}),
        _S.DELETED: frozenset(),
        _S.ERROR: frozenset({_S.DELETING}),
    },
)
EXISTING = frozenset({_S.AVAILABLE, _S.ATTACHING, _S.ATTACHED, _S.DETACHING, _S.RESIZING})
"""The states in which it is billed."""
