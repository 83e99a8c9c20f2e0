"""What a command reads from and writes to. All of it waits for the other side, and no step of it is long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from io import StringIO
from typing import Protocol, TextIO

CHUNK = 16 * 1024
MEMORY = 1024 * 1024
"""Characters that a login keeps at most, of each kind: its variables, the words of a command, a pipe, a line."""
ENCODING_ERRORS = "surrogateescape"
"""Lets any byte pass through text unchanged, so that `cat` and redirections carry binary files."""

Writer = Callable[[str], Awaitable[None]]


class CommandProblem(Exception):
    """A command failed; the text is what it says on standard error."""

    def __init__(self, text: str, status: int = 1) -> None:
        super().__init__(text)
        self.status = status


class Reader(Protocol):
    """A source of text; an empty answer is its end."""

    async def read(self, count: int, /) -> str: ...


class TextReader:
    """A file, or text that is already there."""

    def __init__(self, source: TextIO) -> None:
        self._source = source

    async def read(self, count: int, /) -> str:
        await asyncio.sleep(0)
        return self._source.read(count)


class Pipe(TextReader):
    """Joins two commands of a pipeline. They run one after the other, so it holds all that the first one writes."""

    def __init__(self) -> None:
        super().__init__(StringIO(newline=""))

    async def write(self, text: str) -> None:
        if self._source.tell() + len(text) > MEMORY:
            raise CommandProblem("Killed", 137)
        self._source.write(text)

    def turn(self) -> None:
        """From writing to reading."""
        self._source.seek(0)


@dataclass(frozen=True)
class Terminal:
    """Standard input, output and error of one command."""

    stdin: Reader
    out: Writer
    err: Writer

    async def chunks(self) -> AsyncIterator[str]:
        """Standard input to its end."""
        while chunk := await self.stdin.read(CHUNK):
            yield chunk

    async def lines(self) -> AsyncIterator[str]:
        """Standard input line by line, with the line feeds."""
        rest = ""
        async for chunk in self.chunks():
            *whole, rest = (rest + chunk).split("\n")
            for line in whole:
                yield f"{line}\n"
            if len(rest) > MEMORY:
                raise CommandProblem("memory exhausted", 2)
        if rest:
            yield rest
