"""What a command reads from and writes to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Protocol

CHUNK = 65536
ENCODING_ERRORS = "surrogateescape"
"""Lets any byte pass through text unchanged, so that `cat` and redirections carry binary files."""


class Reader(Protocol):
    """A source of text; an empty answer is its end."""

    async def read(self, count: int, /) -> str: ...


class TextReader:
    """Text that is already there: the output of the command before in a pipeline, or a file."""

    def __init__(self, text: str = "") -> None:
        self._text = text

    async def read(self, count: int, /) -> str:
        chunk, self._text = self._text[:count], self._text[count:]
        return chunk


@dataclass(frozen=True)
class Terminal:
    """Standard input, output and error of one command."""

    stdin: Reader
    out: Callable[[str], None]
    err: Callable[[str], None]

    async def chunks(self) -> AsyncIterator[str]:
        """Standard input to its end."""
        while chunk := await self.stdin.read(CHUNK):
            yield chunk

    async def text(self) -> str:
        """All of standard input."""
        return "".join([chunk async for chunk in self.chunks()])

    def with_output(self, out: Callable[[str], None]) -> Terminal:
        return replace(self, out=out)
