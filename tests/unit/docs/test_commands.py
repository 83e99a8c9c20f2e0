"""Every `ipucloud` command on a page exists, with the options that the page gives it."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

from typer.core import TyperGroup

from ipucloud.cli.main import cli
from tests.support.cases import all_cases
from tests.support.pages import DOCS

_BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted([*DOCS.rglob("*.md"), DOCS.parent / "README.md"])


def commands(page: Path) -> list[str]:
    lines = [line.removeprefix("$ ") for block in _BLOCK.findall(page.read_text()) for line in block.splitlines()]
    return [line for line in lines if line.startswith("ipucloud ")]


def test_commands_on_pages_exist() -> None:
    with all_cases() as case:
        for page in PAGES:
            for line in dict.fromkeys(commands(page)):
                with case(f"{page.name}: {line}"):
                    exists(line)


def exists(line: str) -> None:
    _, *words = shlex.split(line, comments=True)
    words = words[: words.index("--")] if "--" in words else words
    context, path = context_of(()), words
    while isinstance(context.command, TyperGroup) and path and not path[0].startswith("-"):
        path = path[1:]
        context = context_of(tuple(words[: len(words) - len(path)]))
    known = {name for each in context.command.params for name in (*each.opts, *each.secondary_opts)}
    assert {word for word in words if word.startswith("-")} <= known


@cache
def context_of(words: tuple[str, ...]) -> Any:
    """The context of a command. A group makes its commands anew whenever one is looked up."""
    if not words:
        return cli.make_context("ipucloud", [], resilient_parsing=True)
    parent = context_of(words[:-1])
    command = parent.command.get_command(parent, words[-1])
    assert command is not None, words[-1]
    return command.make_context(words[-1], [], parent=parent, resilient_parsing=True)
