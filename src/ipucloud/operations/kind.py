"""A kind of operation, as data. An incomplete or impossible declaration fails at import."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from typing import Any, Generic, NamedTuple
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
    """The response to a request for a kind of operation that is already running on the object."""

    JOINS = auto()
    """The running operation, whatever `If-Match` says, for clients that lost the answer (RFC 9110, 13.1.1)."""
    REFUSED = auto()
    """409 operation_in_progress."""


class Billing(Enum):
    """The effect of an operation on its object's billing."""

    STARTS = auto()
    """Minutes count from its success."""
    ENDS = auto()
    """Minutes count until its request."""
    PAUSES = auto()
    """Minutes count until its request, and again from its success."""
    UNCHANGED = auto()


class OpenStep(NamedTuple):
    """The current step. `attempts` counts its failures so far; `last`: no step follows.

    It began `running_for` seconds ago. `blocked`: what it waits for is shown, as `blocked_by`. `notes`: what its last
    check left for the next one. `retry_in`: seconds until it is to be tried again after a failure; a reconciler whose
    work item carries out one operation waits as long anyway.
    """

    ordinal: int
    name: str
    stage: str
    attempts: int
    detail: str | None
    last: bool
    running_for: float = 0.0
    blocked: bool = False
    notes: dict[str, Any] | None = None
    retry_in: float = 0.0


class OpenOperation(NamedTuple):
    """An unfinished operation with its current step, as of one instant.

    `overdue`: its deadline has passed. `undoing`: the steps of its undo are running. `usual`: the usual length of the
    whole operation in seconds, None if unknown. `project_id`: None if it is of a billing account.
    """

    id: UUID
    project_id: UUID | None
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

    `what` begins the reason that its object shows. `cancelled` and `failed` are the object's states afterwards, None
    for its previous one. `on_begin` writes in the transaction that starts the undo. `otherwise`: how the operation goes
    on when a step of the undo is given up; its steps have stages of their own. Without it all of the undo's endure.
    """

    steps: tuple[Step[Act, Inputs], ...]
    what: str
    cancelled: StrEnum | None
    failed: StrEnum | None
    on_begin: Callable[[AsyncConnection, Inputs], Awaitable[None]] | None = None
    otherwise: Undo[Act, Inputs] | None = None

    def has(self, step: OpenStep) -> bool:
        """Whether this is one of its own steps, by name and stage."""
        return any((each.name, each.stage.name) == (step.name, step.stage) for each in self.steps)


@dataclass(frozen=True, slots=True)
class Ending:
    """How an operation ended: its own state, and the one that its object enters, None for its previous one."""

    operation: OperationState
    state: StrEnum | None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Kind(Generic[Act, Inputs]):
    """One kind of operation. Raises DeclarationError.

    Its object may be in one of `begins_in`, enters `during` with the request and `success` with the last step; None
    where the object has no such state. `states` is the object's transition table. `work_kind` is the kind of the work
    items that carry it out. `deadline` is in seconds, None for the process's setting. `failure` makes the problem that
    the operation ends with when a step is given up. `replacing`: the steps that may precede another run
    through `steps`. `preceding`: those that precede it where the request asks for them.
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
    replacing: tuple[Step[Act, Inputs], ...]
    preceding: tuple[Step[Act, Inputs], ...]
    _by_name: dict[tuple[bool, str], Step[Act, Inputs]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for fault in self._faults():
            raise DeclarationError(f"{self.name}: {fault}")
        by_name = {(False, step.name): step for step in (*self.preceding, *self.replacing, *self.steps)}
        by_name |= {(True, step.name): step for step in ([] if self.undo is None else self.undo.steps)}
        object.__setattr__(self, "_by_name", by_name)

    def step(self, operation: OpenOperation) -> Step[Act, Inputs] | None:
        """The declaration of the operation's current step; None for a step of another version of the product."""
        undo = self.undo_of(operation)
        if undo is not None and undo is not self.undo:
            return next(step for step in undo.steps if step.name == operation.step.name)
        return self._by_name.get((operation.undoing, operation.step.name))

    def undo_of(self, operation: OpenOperation) -> Undo[Act, Inputs] | None:
        """The undo that is under way; None: none is."""
        if not operation.undoing or self.undo is None:
            return None
        otherwise = self.undo.otherwise
        return otherwise if otherwise is not None and otherwise.has(operation.step) else self.undo

    def next_undo(self, operation: OpenOperation) -> Undo[Act, Inputs] | None:
        """The undo that follows when the current step is given up; None: there is none."""
        under_way = self.undo_of(operation)
        return self.undo if under_way is None else under_way.otherwise

    def problem(self, operation: OpenOperation, failed: Failed) -> Problem:
        """The problem of a step that is given up. Raises LookupError if its kind never gives up."""
        if self.failure is None:
            raise LookupError(f"{self.name} never gives up a step")
        return self.failure(operation, failed)

    def lacking(self, inputs: Inputs) -> Mapping[str, str]:
        """What the object lacks, for the steps of an undo; as in `step.plan_of`."""
        return {}

    def unbegun(self, inputs: Inputs) -> bool:
        """Whether the operation waits to begin, and its object is as it was before the request.

        One that fails or is cancelled then ends at once, without an undo.
        """
        return False

    async def step_recorded(self, connection: AsyncConnection, inputs: Inputs, blocked_by: str | None) -> None:
        """Runs in the transaction that recorded the state of a step.

        `blocked_by`: what it waits for, if that is shown.
        """

    async def instead(
        self, connection: AsyncConnection, inputs: Inputs, failed: Failed
    ) -> Failed | Sequence[Step[Act, Inputs]]:
        """The steps by which the operation goes on when a step is given up; Failed, perhaps with more to say: none."""
        return failed

    async def before_end(self, connection: AsyncConnection, inputs: Inputs, ending: Ending) -> None:
        """Runs in the transaction that ends an operation, before its row changes."""

    async def after_end(self, connection: AsyncConnection, inputs: Inputs, ending: Ending) -> None:
        """The same after its row has changed: for what comes last in the lock order."""

    def _faults(self) -> Iterable[str]:
        if not _NAME.fullmatch(self.name):
            yield "a name is <object>.<verb>"
        for steps in (self.steps, *(undo.steps for undo in self._undos())):
            if not steps:
                yield "it has no step"
            if len({step.name for step in steps}) < len(steps):
                yield "two of its steps have one name"
        yield from self._unsafe_undos()
        if {step.name for step in (*self.preceding, *self.replacing)} & {step.name for step in self.steps}:
            yield "a step that replaces has the name of one of its steps"
        if self.failure is None and not all(step.endures for step in self.steps):
            yield "a step may fail, but it declares no `failure`"
        if self.cancellable and self.undo is None:
            yield "it is cancellable, but it declares no undo"
        yield from self._wrong_moves()

    def _unsafe_undos(self) -> Iterable[str]:
        for undo in self._undos():
            if undo.otherwise is None:
                if fickle := [step.name for step in undo.steps if not step.endures]:
                    yield f"its undo may give up at {fickle[0]}"
            elif {step.stage.name for step in undo.steps} & {step.stage.name for step in undo.otherwise.steps}:
                yield "its undo and what follows that have a stage in common"

    def _undos(self) -> Sequence[Undo[Act, Inputs]]:
        if self.undo is None:
            return ()
        return (self.undo,) if self.undo.otherwise is None else (self.undo, self.undo.otherwise)

    def _wrong_moves(self) -> Iterable[str]:
        ends = {self.success}.union(*({undo.cancelled, undo.failed} for undo in self._undos()))
        if self.states is None:
            return
        for before in self.begins_in if self.during is not None else ():
            if not self.states.allows(before, self.during):
                yield f"{before} does not lead to {self.during}"
        for after in ends - {None}:
            if self.during is None or not self.states.allows(self.during, after):
                yield f"{self.during} does not lead to {after}"
