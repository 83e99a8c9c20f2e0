"""Following an operation: its finished stages, what blocks it, and the expected completion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from ipucloud.cli.output import harmless
from ipucloud.cli.session import Session
from ipucloud.cli.times import duration
from ipucloud.client.call import Call
from ipucloud.client.models import Operation, Step

HOLD = 1
"""Seconds of a long poll: short enough for a progress bar that moves."""
_BAR = 20
_HEALTHY = "cyan"
DONE, FAILED = "✓", "✗"

_WORDS = {
    "IPU_SERVERS": "IPU machines",
    "VIPU_CONTROLLER": "V-IPU controller",
    "POPLAR_SERVERS": "Poplar servers",
    "POST_DEPLOY_SETUP": "Final checks",
    "CLUSTER_CLEAN_UP": "Clean-up",
    "BUILD": "File built",
    "DELIVER": "File delivered",
    "attach_volumes": "Attach volumes",
    "check_ipus": "Check IPUs",
    "create_vipu_user": "Create V-IPU user",
    "remove_vipu_user": "Remove V-IPU user",
    "switch_on_poplar_servers": "Switch on Poplar servers",
    "switch_off_poplar_servers": "Switch off Poplar servers",
    "exchange_ssh_keys": "Change SSH keys",
    "note_boots": "Check Poplar servers",
    "reboot_servers": "Reboot Poplar servers",
    "power_cycle_servers": "Power-cycle Poplar servers",
    "settle_servers": "Wait for Poplar servers",
    "check_servers": "Check Poplar servers",
    "rebuild_servers": "Rebuild Poplar servers",
    "count_ipus": "Count IPUs",
    "settle_rebuild": "Wait for Poplar servers",
    "wipe_poplar_servers": "Wipe Poplar servers",
}


def carry_out(session: Session, call: Call[Operation], *, wait: bool, patience: float | None) -> Operation:
    """Start an operation, and follow it if the user wants to wait."""
    operation = session.run(call)
    return follow(session, operation, patience) if wait else operation


def follow(
    session: Session, operation: Operation, patience: float | None = None, *, project: str | None = None
) -> Operation:
    """Wait until the operation is done, showing its progress; `project`: its own, if not that in use.

    Raises OperationFailedError unless it succeeded, WaitTimeoutError after `patience` seconds.
    """
    try:
        with _display(session.messages) as show:
            show(operation)
            return session.client.wait(operation, show, patience=patience, hold=HOLD, project=project)
    except KeyboardInterrupt:
        of = f" --project {project}" if project else ""
        session.note(f"The operation continues. To follow it: ipucloud operations wait {operation.id}{of}")
        raise


@contextmanager
def _display(console: Console) -> Iterator[Callable[[Operation], None]]:
    log = Log(console)
    with bar(console) as move:

        def show(operation: Operation) -> None:
            log.stages(operation)
            move(current(operation), operation.progress, expected(operation))

        yield show


Move = Callable[[str, int | None, str], None]
"""Shows what is going on, how many per cent are done (None: unknown), and what is said of the time."""


@contextmanager
def bar(console: Console) -> Iterator[Move]:
    """A progress bar; without a terminal, nothing."""
    if not console.is_terminal:
        yield lambda *_: None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(_BAR, complete_style=_HEALTHY, finished_style="green", pulse_style=_HEALTHY),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[expected]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=100, expected="")

        def move(what: str, percent: int | None, time: str) -> None:
            total = None if percent is None else 100
            progress.update(
                task, description=harmless(what), completed=percent or 0, total=total, expected=time, refresh=True
            )

        yield move


@dataclass
class Log:
    """A line for each finished stage, and one for each reason to wait."""

    console: Console
    _written: set[str] = field(default_factory=set)

    def stages(self, operation: Operation) -> None:
        for name, line in finished(operation):
            self.write(name, line)
        if operation.succeeded and operation.finished_at is not None:
            self.write("", f"Done in {duration((operation.finished_at - operation.created_at).total_seconds())}.")
        if operation.blocked_by is not None and not operation.done:
            reason, *_ = operation.blocked_by.split(" (since ")  # the rest counts the checks
            self.write(reason, f"Waiting: {operation.blocked_by}")

    def write(self, name: str, line: str) -> None:
        """Write the line unless one of this name was."""
        if name not in self._written:
            self._written.add(name)
            text = Text(harmless(line))
            text.stylize("red" if line.startswith(FAILED) else "green", 0, 1 if line[0] in DONE + FAILED else 0)
            self.console.print(text, soft_wrap=True)


def finished(operation: Operation) -> Iterator[tuple[str, str]]:
    """The finished stages, each with a line that says how long it took."""
    for name, steps in _stages(operation):
        done = [step for step in steps if step.state != "skipped"]
        begun = [step.started_at for step in done if step.started_at]
        ended = [step.finished_at for step in done if step.finished_at]
        failed = [step for step in done if step.state == "failed"]
        if not begun or not ended or not (failed or all(step.state == "succeeded" for step in done)):
            continue
        time = duration((max(ended) - min(begun)).total_seconds())
        words = in_words(name)
        why = f": {failed[0].detail}" if failed and failed[0].detail else ""
        yield name, f"{FAILED} {words} failed after {time}{why}" if failed else f"{DONE} {words}, {time}"


def current(operation: Operation) -> str:
    """The stage that the operation is in, in words."""
    if operation.done or operation.state == "queued":
        return operation.state.capitalize()
    open_ = [name for name, steps in _stages(operation) if any(step.state in {"pending", "running"} for step in steps)]
    stage = in_words(open_[0] if open_ else operation.stage or operation.kind)
    return f"Cancelling: {stage}" if operation.state == "cancelling" else stage


def expected(operation: Operation, now: datetime | None = None) -> str:
    """The time left, for people; empty if it is not known."""
    if operation.done or operation.expected_at is None:
        return ""
    seconds = (operation.expected_at - (now or datetime.now(UTC))).total_seconds()
    if seconds > 0:
        return f"about {duration(seconds)} left"
    return "takes longer than usual"


def _stages(operation: Operation) -> Iterator[tuple[str, Sequence[Step]]]:
    """The steps by stage; each one for itself if all are of one stage."""
    single = len({step.stage for step in operation.steps}) == 1
    for name, steps in groupby(operation.steps, key=lambda step: step.name if single else step.stage):
        yield name, [*steps]


def in_words(name: str) -> str:
    """A stage or a step, for people."""
    return _WORDS.get(name) or name.replace("_", " ").capitalize()
