"""The language of the simulated server's shell: words, quotes, variables, redirections, pipes and lists. Pure.

A small part of the POSIX shell, read the same way: `a; b && c || d | e > file`, single and double quotes, backslash,
`$NAME`, `${NAME}`, `$?`, `~`, and comments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class SyntaxProblem(Exception):
    """A line that the shell cannot read; the text says where."""


class Part(NamedTuple):
    """A piece of a word; `literal` text is not expanded, `quoted` text is never empty-dropped nor home-expanded."""

    text: str
    literal: bool
    quoted: bool


Word = list[Part]


@dataclass
class Command:
    """One command of a pipeline: its words and its redirections as (operator, file)."""

    words: list[Word] = field(default_factory=list)
    redirects: list[tuple[str, Word]] = field(default_factory=list)


@dataclass
class Step:
    """One pipeline of a list, and the operator that stands before it (`;`, `&&` or `||`)."""

    operator: str
    pipeline: list[Command]


_OPERATORS = re.compile(r"2>&1|2>>|2>|&>|&&|\|\||>>|[;|<>&\n]")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+|\?))")
_REDIRECTS = frozenset({"2>&1", "2>>", "2>", "&>", ">>", ">", "<"})


def parse(text: str) -> list[Step]:
    """The steps of a text. Raises SyntaxProblem."""
    steps: list[Step] = []
    command, operator, pipeline = Command(), ";", list[Command]()
    tokens = [*_tokens(text), ";"]
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if not isinstance(token, str):
            command.words.append(token)
        elif token in _REDIRECTS:
            target: Word = []
            if token != "2>&1":
                follower = tokens[index]
                if isinstance(follower, str):
                    raise SyntaxProblem(f"syntax error: a file name is missing after '{token}'")
                target, index = follower, index + 1
            command.redirects.append((token, target))
        elif token == "&":
            raise SyntaxProblem("syntax error: this shell runs no background jobs")
        elif not command.words and not command.redirects:
            if token == ";" and not pipeline:
                continue
            raise SyntaxProblem(f"syntax error near '{token}'")
        else:
            pipeline.append(command)
            command = Command()
            if token != "|":
                steps.append(Step(operator, pipeline))
                operator, pipeline = token, []
    return steps


def expand(word: Word, env: Mapping[str, str], status: int, home: str) -> str | None:
    """The word's value; None for an unquoted word that came out empty and so vanishes."""
    pieces: list[str] = []
    for number, part in enumerate(word):
        text = part.text
        if number == 0 and not part.quoted and (text == "~" or text.startswith("~/")):
            text = home + text[1:]
        pieces.append(text if part.literal else _VARIABLE.sub(lambda m: _value(m, env, status), text))
    value = "".join(pieces)
    return value if value or any(part.quoted for part in word) else None


def _value(match: re.Match[str], env: Mapping[str, str], status: int) -> str:
    name = match[1] or match[2]
    return str(status) if name == "?" else env.get(name, "")


def _tokens(text: str) -> list[Word | str]:
    tokens: list[Word | str] = []
    word: Word = []
    position = 0

    def end_word() -> None:
        nonlocal word
        if word:
            tokens.append(word)
            word = []

    while position < len(text):
        char = text[position]
        operator = _OPERATORS.match(text, position)
        if operator and (not operator[0].startswith("2") or not word):
            end_word()
            tokens.append(";" if operator[0] == "\n" else operator[0])
            position = operator.end()
        elif char.isspace():
            end_word()
            position += 1
        elif char == "#" and not word:
            position = text.find("\n", position)
            if position < 0:
                break
        else:
            part, position = _part(text, position)
            word.append(part)
    end_word()
    return tokens


_BARE = re.compile(r"[^\s'\"\\;|<>&]+")


def _part(text: str, position: int) -> tuple[Part, int]:
    char = text[position]
    if char == "\\":
        return Part(text[position + 1 : position + 2], literal=True, quoted=True), position + 2
    if char == "'":
        end = text.find("'", position + 1)
        if end < 0:
            raise SyntaxProblem("syntax error: a single quote is not closed")
        return Part(text[position + 1 : end], literal=True, quoted=True), end + 1
    if char == '"':
        match = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL).match(text, position)
        if match is None:
            raise SyntaxProblem("syntax error: a double quote is not closed")
        inner = re.sub(r'\\(["\\])', r"\1", match[1])
        return Part(inner, literal="\\$" in inner, quoted=True), match.end()
    match = _BARE.match(text, position)
    if match is None:
        raise SyntaxProblem(f"syntax error near '{char}'")
    return Part(match[0], literal=False, quoted=False), match.end()
