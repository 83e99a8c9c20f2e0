"""A kind of operation, as data. What is declared incompletely, or cannot be carried out, fails when it is imported."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from typing import Any, Generic
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.operations import OperationState
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.transitions import TransitionTable
from ipucloud.operations.results import Failed
from ipucloud.operations.step import Act, Inputs, Step

_NAME = re.compile(r"[a-z]+\.[a-z]+(-[a-z]+)*")


class DeclarationError(Exception):
    """A kind of operation is declared in a way that no worker could carry out."""


class Repeated(Enum):
    """What a request gets that asks for a kind of operation of which one runs on the object."""

    JOINS = auto()
    """The operation that runs, whatever `If-Match` says: a lost answer can be asked for again (RFC 9110, 13.1.1)."""
    REFUSED = auto()
    """409 operation_in_progress."""


class Billing(Enum):
    """What an operation does to the billing of its object."""

    STARTS = auto()
    """Minutes count from its success on."""
    ENDS = auto()
    """Minutes count until its request."""
    UNCHANGED = auto()


@dataclass(frozen=True, slots=True)
class OpenStep:
    """The step to take now. `attempts` counts its failures so far; `last` that no step follows.

    It began `running_for` seconds ago. `blocked`: it is on record that it failed or takes longer than usual.
    """

    ordinal: int
    name: str
    stage: str
    attempts: int
    detail: str | None
    last: bool
    running_for: float = 0.0
    blocked: bool = False


@dataclass(frozen=True, slots=True)
class OpenOperation:
    """An operation that is not finished, as of one instant, with its current step.

    `overdue`: its deadline has passed. `undoing`: it takes back what it did, by the steps of its undo. `usual`: how
    many seconds all of it usually takes, None if that is not known.
    """

    id: UUID
    project_id: UUID
    kind: str
    state: OperationState
    request_id: str
    undoing: bool
    overdue: bool
    step: OpenStep
    usual: float | None = None


@dataclass(frozen=True, kw_only=True)
class Undo(Generic[Act, Inputs]):
    """How an operation that failed or was cancelled is undone.

    `what` begins the reason that its object shows. `cancelled` and `failed` are the states in which that leaves the
    object, None for no other than before. `on_begin` writes in the transaction that decides for it.
    """

    steps: tuple[Step[Act, Inputs], ...]
    what: str
    cancelled: StrEnum | None
    failed: StrEnum | None
    on_begin: Callable[[AsyncConnection, Inputs], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How an operation ended: its own state, and the one that its object enters, None for no other than before."""

    operation: OperationState
    state: StrEnum | None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Kind(Generic[Act, Inputs]):
    """One kind of operation. Raises DeclarationError.

    Its object may be in one of `begins_in`, enters `during` with the request and `success` with the last step; None
    where the object has no state of its own for that. `states` is the object's transition table. `work_kind` is the
    kind of the work items that carry it out. `deadline` is in seconds, None for what the process is set to. `failure`
    makes the problem that the operation ends with when a step is given up.
    """

    name: str
    work_kind: str
    steps: tuple[Step[Act, Inputs], ...]
    states: TransitionTable[Any] | None
    begins_in: frozenset[Any]
    during: StrEnum | None
    success: StrEnum | None
    undo: Undo[Act, Inputs] | None
    cancellable: bool
    repeated: Repeated
    billing: Billing
    deadline: float | None
    failure: Callable[[OpenOperation, Failed], Problem] | None
    _by_name: dict[tuple[bool, str], Step[Act, Inputs]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for fault in self._faults():
            raise DeclarationError(f"{self.name}: {fault}")
        found = {(False, step.name): step for step in self.steps}
        found |= {(True, step.name): step for step in ([] if self.undo is None else self.undo.steps)}
        object.__setattr__(self, "_by_name", found)

    def step(self, operation: OpenOperation) -> Step[Act, Inputs] | None:
        """The declaration of the operation's current step; None for one of another version of the product."""
        return self._by_name.get((operation.undoing, operation.step.name))

    def problem(self, operation: OpenOperation, failed: Failed) -> Problem:
        """What the operation ends with when a step is given up. Raises LookupError for a kind that never gives up."""
        if self.failure is None:
            raise LookupError(f"{self.name} gives nothing up")
        return self.failure(operation, failed)

    def lacking(self, inputs: Inputs) -> Mapping[str, str]:
        """What the object does not have, for the steps of an undo; as in `step.plan_of`."""
        return {}

    async def step_recorded(self, connection: AsyncConnection, inputs: Inputs, blocked_by: str | None) -> None:
        """Runs in the transaction that recorded where a step is.

        `blocked_by`: what it waits for, when it failed or takes longer than usual.
        """

    async def before_end(self, connection: AsyncConnection, inputs: Inputs, ending: Ending) -> None:
        """Runs in the transaction that ends an operation, before its row changes."""

    async def after_end(self, connection: AsyncConnection, inputs: Inputs, ending: Ending) -> None:
        """The same, after its row has changed: for what comes last in the order of locks."""

    def _faults(self) -> Iterable[str]:
        if not _NAME.fullmatch(self.name):
            yield "a name is <object>.<verb>"
        undoing = () if self.undo is None else self.undo.steps
        for steps in (self.steps, *([] if self.undo is None else [undoing])):
            if not steps:
                yield "it has no step"
            if len({step.name for step in steps}) < len(steps):
                yield "two of its steps have one name"
        if fickle := [step.name for step in undoing if not step.endures]:
            yield f"its undo may give up at {fickle[0]}"
        if self.failure is None and not all(step.endures for step in self.steps):
            yield "a step may fail, and nothing says what the operation ends with"
        if self.cancellable and self.undo is None:
            yield "it is cancellable, and nothing says how it is undone"
        yield from self._wrong_moves()

    def _wrong_moves(self) -> Iterable[str]:
        ends = {self.success} | (set() if self.undo is None else {self.undo.cancelled, self.undo.failed})
        if self.states is None:
            return
        for before in self.begins_in if self.during is not None else ():
            if not self.states.allows(before, self.during):
                yield f"{before} does not lead to {self.during}"
        for after in ends - {None}:
            if self.during is None or not self.states.allows(self.during, after):
                yield f"{self.during} does not lead to {after}"
