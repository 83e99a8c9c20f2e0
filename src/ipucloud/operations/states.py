"""The life of an operation and of its steps, as data."""

from __future__ import annotations

from enum import StrEnum

from ipucloud.contract.operations import OperationState
from ipucloud.kernel.transitions import TransitionTable


class StepState(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"


_S = OperationState
OPERATION_STATES: TransitionTable[OperationState] = TransitionTable(
    "operation",
    _S.QUEUED,
    {
        # failed straight from queued: a delete pre-empted it before a worker started.
        _S.QUEUED: frozenset({_S.RUNNING, _S.CANCELLING, _S.FAILED}),
        _S.RUNNING: frozenset({_S.CANCELLING, _S.SUCCEEDED, _S.FAILED}),
        _S.CANCELLING: frozenset({_S.CANCELLED, _S.FAILED}),
        _S.SUCCEEDED: frozenset(),
        _S.FAILED: frozenset(),
        _S.CANCELLED: frozenset(),
    },
)
TERMINAL = OPERATION_STATES.terminal()
