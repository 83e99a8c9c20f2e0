"""The states of a service, as data; the documentation's diagram is drawn from it."""

from __future__ import annotations

from ipucloud.contract.services import ServiceState
from ipucloud.kernel.transitions import TransitionTable

_S = ServiceState
SERVICE_STATES: TransitionTable[ServiceState] = TransitionTable(
    "service",
    _S.STARTING,
    {
        _S.STARTING: frozenset({_S.STARTING, _S.RUNNING, _S.FAILED, _S.STOPPED}),
        _S.RUNNING: frozenset({_S.STARTING, _S.FAILED, _S.STOPPED}),
        _S.FAILED: frozenset(),
        _S.STOPPED: frozenset(),
    },
)
