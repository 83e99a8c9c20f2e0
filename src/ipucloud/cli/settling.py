"""Waiting for what has a state and no operation, such as a volume, with the progress that operations have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from time import monotonic
from typing import Annotated, Any, Generic, Protocol, TypeVar

import typer

from ipucloud.cli.exits import Exit
from ipucloud.cli.finding import Kind, id_of
from ipucloud.cli.following import DONE, Log, bar
from ipucloud.cli.session import Session
from ipucloud.cli.times import duration
from ipucloud.client.call import Call
from ipucloud.client.errors import ApiError, StateTimeoutError
from ipucloud.client.models import Page

PAUSE = 0.5
"""Seconds between two readings."""
SLOW = 60.0
"""Seconds after which it is said what an object waits for: until then, waiting is usual."""

For = Annotated[str | None, typer.Option("--for", "--state", metavar="STATE", help="Wait until it is in this state.")]


class Stateful(Protocol):
    @property
    def id(self) -> Any: ...
    @property
    def name(self) -> str: ...
    @property
    def state(self) -> str: ...


Item = TypeVar("Item")
Whole = TypeVar("Whole", bound=Stateful)


def until(
    session: Session,
    call: Call[Item],
    done: Callable[[Item], bool],
    say: Callable[[Item], tuple[str, str | None]],
    *,
    patience: float | None,
    resume: str,
) -> Item:
    """Read an object until `done` of it, showing progress.

    `say`: the object with its state, and why it is in it. `resume`: the command that waits for it. Raises
    StateTimeoutError after `patience` seconds.
    """
    began, log, readings = monotonic(), Log(session.messages), 0

    def show(item: Item) -> None:
        nonlocal readings
        readings += 1
        what, why = say(item)
        passed = monotonic() - began
        if done(item):
            if readings > 1:
                log.write("", f"{DONE} {what}, {duration(passed)}")
            return
        if why and passed > SLOW:
            log.write(why, f"Waiting: {why}")
        move(what, None, "takes longer than usual" if passed > SLOW else "")

    try:
        with bar(session.messages) as move:
            return session.client.until(call, done, show, patience=patience, pause=PAUSE)
    except StateTimeoutError as late:
        late.detail = f"No longer waited for: {say(late.last)[0]}."  # type: ignore[arg-type]
        raise
    except KeyboardInterrupt:
        session.note(f"It continues. To wait for it: {resume}")
        raise


def refuse(session: Session, item: Stateful, what: str, goals: Sequence[str]) -> None:
    """Raises typer.Exit, with a sentence, for an object that is in none of these states."""
    if item.state not in goals:
        why = getattr(item, "state_reason", None)
        session.note(f"ipucloud: {what} is {item.state}, not {' or '.join(goals)}{f': {why}' if why else '.'}")
        raise typer.Exit(Exit.FAILED)


@dataclass(frozen=True)
class Noun(Generic[Whole]):
    """A noun whose objects have states. `group`: its commands.

    `states`: all of them; `passing`: those that end without a request; `goals`: those that waiting is for; `ends`:
    those that no other follows without a request. `deleted`: lists the deleted ones.
    """

    kind: Kind[Whole]
    group: str
    get: Callable[[str], Call[Whole]]
    show: Callable[[Session, Whole], None]
    states: type[StrEnum]
    passing: Sequence[str] = ("creating", "attaching", "detaching", "resizing", "deleting")
    goals: Sequence[str] = ("available", "attached", "deleted")
    ends: Sequence[str] = ("error", "deleted")
    deleted: Callable[[], Call[Page[Whole]]] | None = None

    def carry_out(self, session: Session, call: Call[Whole], *goals: str, wait: bool, patience: float | None) -> None:
        """Run a call that changes one, and show it; if the user wants to wait, once its state lasts.

        Raises typer.Exit unless it is in one of `goals` then; StateTimeoutError.
        """
        item = session.run(call)
        if wait:
            item = self._until(session, item, self._lasts, patience)
        self.show(session, item)
        if wait:
            refuse(session, item, self._called(item), goals)

    def wait(self, session: Session, ref: str, state: str | None, patience: float | None) -> None:
        """Wait until it is in a state; None: in one that lasts. Shows it; raises as `carry_out`."""
        states = [each.value for each in self.states]
        if state is not None and state not in states:
            raise typer.BadParameter(f"{state!r} is none of {', '.join(states)}.", param_hint="--for")
        item = self._find(session, ref, state)
        ends = {state, *self.ends}
        item = self._until(session, item, self._lasts if state is None else lambda now: now.state in ends, patience)
        self.show(session, item)
        refuse(session, item, self._called(item), self.goals if state is None else [state])

    def _until(self, session: Session, item: Whole, done: Callable[[Whole], bool], patience: float | None) -> Whole:
        if done(item):
            return item
        resume = f"ipucloud {self.group} wait {item.name}"
        return until(session, self.get(str(item.id)), done, self._say, patience=patience, resume=resume)

    def _lasts(self, item: Whole) -> bool:
        return item.state not in self.passing

    def _say(self, item: Whole) -> tuple[str, str | None]:
        called = self._called(item)
        return f"{called[0].upper()}{called[1:]} {item.state}", getattr(item, "state_reason", None)

    def _called(self, item: Whole) -> str:
        return f"{self.kind.noun} {item.name}"

    def _find(self, session: Session, ref: str, state: str | None) -> Whole:
        """The object with this name or id; for a wait until it is deleted, else the last one of the name that is."""
        try:
            return session.run(self.get(id_of(session.client, self.kind, ref)))
        except ApiError as error:
            if error.code != "not_found" or state != "deleted" or self.deleted is None:
                raise
            for each in session.client.items(self.deleted()):
                if ref in self.kind.names(each):
                    return each
            raise
