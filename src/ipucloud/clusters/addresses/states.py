"""The states of an address, as data; the documentation's diagram is drawn from it."""

from __future__ import annotations

from ipucloud.contract.addresses import AddressState
from ipucloud.kernel.transitions import TransitionTable

_S = AddressState
ADDRESS_STATES: TransitionTable[AddressState] = TransitionTable(
    "address",
    _S.CREATING,
    {
        _S.CREATING: frozenset({_S.AVAILABLE, _S.ERROR, _S.DELETING}),
        _S.AVAILABLE: frozenset({_S.ATTACHING, _S.DELETING}),
        _S.ATTACHING: frozenset({_S.ATTACHED, _S.DETACHING}),
        _S.ATTACHED: frozenset({_S.ATTACHING, _S.DETACHING}),
        _S.DETACHING: frozenset({_S.AVAILABLE}),
        _S.DELETING: frozenset({_S.DELETED}),
        _S.DELETED: frozenset(),
        _S.ERROR: frozenset({_S.DELETING}),
    },
)
EXISTING = frozenset({_S.AVAILABLE, _S.ATTACHING, _S.ATTACHED, _S.DETACHING})
"""The states in which it is billed."""
