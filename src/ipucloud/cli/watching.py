"""`--watch`: a result again and again."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from time import sleep
from typing import NoReturn

from rich.live import Live
from rich.text import Text

from ipucloud.cli import output

INTERVAL = 2.0
"""Seconds between two readings."""


def watch(show: Callable[[], None]) -> NoReturn:
    """Call `show` until it fails or Ctrl-C. A terminal is redrawn; a pipe gets the lines that are new each time."""
    terminal = sys.stdout.isatty()
    with _display(terminal) as display:
        while True:
            with redirect_stdout(_Buffer(terminal)) as written:
                show()
            display(written.getvalue())
            sleep(INTERVAL)


class _Buffer(io.StringIO):
    """What is written as if to standard output."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@contextmanager
def _display(terminal: bool) -> Iterator[Callable[[str], None]]:
    if not terminal:
        yield _NewLines()
        return
    with Live(console=output.console(sys.stdout), auto_refresh=False, vertical_overflow="crop") as live:
        yield lambda text: live.update(Text.from_ansi(text), refresh=True)


class _NewLines:
    def __init__(self) -> None:
        self._before: set[str] = set()

    def __call__(self, text: str) -> None:
        lines = text.splitlines(keepends=True)
        sys.stdout.writelines(line for line in lines if line not in self._before)
        sys.stdout.flush()
        self._before = set(lines)
