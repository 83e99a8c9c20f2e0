"""What a command of the server writes to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

ENCODING_ERRORS = "surrogateescape"
"""Lets any byte pass through text unchanged."""

Writer = Callable[[str], Awaitable[None]]


class CommandProblem(Exception):
    """A command failed; the text is what it says on standard error."""

    def __init__(self, text: str, status: int = 1) -> None:
        super().__init__(text)
        self.status = status


class Instead(Exception):
    """A program of the sandbox is to run in the place of a command."""

    def __init__(self, command: list[str]) -> None:
        super().__init__(*command)
        self.command = command


@dataclass(frozen=True)
class Terminal:
    """Standard output and error of one command."""

    out: Writer
    err: Writer
