"""The language of the simulated server's shell: words, quotes, variables, redirections, pipes and lists. Pure.

A small part of the POSIX shell, read the same way: `a; b && c || d | e > file`, single and double quotes, backslash,
`$NAME`, `${NAME}`, `$?`, `~`, and comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain


class SyntaxProblem(Exception):
    """A line that the shell cannot read; the text says where."""


@dataclass
class Command:
    """One command of a pipeline: its words as written, and its redirections as (operator, file)."""

    words: list[str] = field(default_factory=list)
    redirects: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Step:
    """One pipeline of a list, and the operator that stands before it (`;`, `&&` or `||`)."""

    operator: str
    pipeline: list[Command]


_TOKEN = re.compile(
    r"""[^\S\n]+ | \\\n | \#[^\n]*
    | (?P<operator> 2>&1 | 2>>? | &> | && | \|\| | >> | [;|<>&\n] )
    | (?P<word> (?: [^\s'"\\;|<>&]+ | \\. | '[^']*' | "(?:[^"\\]|\\.)*" )+ )""",
    re.DOTALL | re.VERBOSE,
)
_PART = re.compile(r"""\\(.) | '([^']*)' | "((?:[^"\\]|\\.)*)" | ([^'"\\]+)""", re.DOTALL | re.VERBOSE)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+|\?))")
_IN_QUOTES = re.compile(_VARIABLE.pattern + r'|\\([$`"\\])')
_REDIRECTS = frozenset({"2>&1", "2>>", "2>", "&>", ">>", ">", "<"})
_ENDS = frozenset({";", "&&", "||", "|", "&"})


def parse(text: str) -> Iterator[Step]:
    """The steps of a text. Raises SyntaxProblem when it comes to what cannot be read."""
    command, operator, pipeline = Command(), ";", list[Command]()
    tokens = chain(_tokens(text), ";")
    for token in tokens:
        if token in _REDIRECTS:
            target = "" if token == "2>&1" else next(tokens)
            if target in _REDIRECTS | _ENDS:
                raise SyntaxProblem(f"syntax error: a file name is missing after '{token}'")
            command.redirects.append((token, target))
        elif token not in _ENDS:
            command.words.append(token)
        elif token == "&":
            raise SyntaxProblem("syntax error: this shell runs no background jobs")
        elif command.words or command.redirects:
            pipeline.append(command)
            command = Command()
            if token != "|":
                yield Step(operator, pipeline)
                operator, pipeline = token, []
        elif token != ";" or pipeline:
            raise SyntaxProblem(f"syntax error near '{token}'")


def expand(word: str, variable: Callable[[str], str], home: str) -> str | None:
    """The word's value; None for an unquoted word that came out empty and so vanishes."""

    def replaced(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return variable(name) if name else match[3]

    pieces = []
    if word == "~" or word.startswith("~/"):
        pieces.append(home)
        word = word[1:]
    quoted = False
    for escaped, single, double, bare in _PART.findall(word):
        quoted = quoted or not bare
        pieces.append(escaped.removeprefix("\n") + single + _IN_QUOTES.sub(replaced, double))
        pieces.append(_VARIABLE.sub(replaced, bare))
    return "".join(pieces) if quoted or any(pieces) else None


def _tokens(text: str) -> Iterator[str]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise SyntaxProblem(f"syntax error: {text[position]} is not closed")
        if match["operator"] or match["word"]:
            yield match[0].replace("\n", ";") if match["operator"] else match[0]
        position = match.end()
