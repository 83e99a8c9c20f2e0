"""Following an operation: stage, progress, expected completion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from ipucloud.cli.output import harmless
from ipucloud.cli.session import Session
from ipucloud.client.call import Call
from ipucloud.client.models import Operation

HOLD = 1
"""Seconds of a long poll: short enough for a progress bar that moves."""


def carry_out(session: Session, call: Call[Operation], *, wait: bool, patience: float | None) -> Operation:
    """Start an operation, and follow it if the user wants to wait."""
    operation = session.run(call)
    return follow(session, operation, patience) if wait else operation


def follow(session: Session, operation: Operation, patience: float | None = None) -> Operation:
    """Wait until the operation is done, showing its progress.

    Raises OperationFailedError unless it succeeded, WaitTimeoutError after `patience` seconds.
    """
    try:
        with _display(session.messages) as show:
            show(operation)
            return session.client.wait(operation, show, patience=patience, hold=HOLD)
    except KeyboardInterrupt:
        session.note(f"The operation continues. To follow it: ipucloud operations wait {operation.id}")
        raise


@contextmanager
def _display(console: Console) -> Iterator[Callable[[Operation], None]]:
    if not console.is_terminal:
        yield _Lines(console)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[expected]}", markup=False),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=100, expected="")

        def show(operation: Operation) -> None:
            progress.update(
                task,
                description=_label(operation),
                completed=operation.progress,
                expected=expected(operation),
                refresh=True,
            )

        yield show


class _Lines:
    """One line for each new stage, if no bar can be drawn."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = ""

    def __call__(self, operation: Operation) -> None:
        label = _label(operation)
        if label != self._last:
            self._last = label
            self._console.print(f"{operation.progress:3d} %  {label}  {expected(operation)}".rstrip())


def _label(operation: Operation) -> str:
    return harmless(f"{operation.kind} {operation.state if operation.done or not operation.stage else operation.stage}")


def expected(operation: Operation, now: datetime | None = None) -> str:
    """The expected completion for people; empty if past or unknown."""
    if operation.done or operation.expected_at is None:
        return ""
    left = round((operation.expected_at - (now or datetime.now(UTC))).total_seconds())
    if left <= 0:
        return "any moment now"
    minutes, seconds = divmod(left, 60)
    duration = f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
    return f"done in about {duration}, at {operation.expected_at.astimezone(UTC):%H:%M:%S}Z"
