"""Every `ipucloud` command on a page exists, with the options that the page gives it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup

from ipucloud.cli.main import cli
from tests.support.pages import DOCS

_BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted([*DOCS.rglob("*.md"), DOCS.parent / "README.md"])


def commands(page: Path) -> list[str]:
    lines = [line.removeprefix("$ ") for block in _BLOCK.findall(page.read_text()) for line in block.splitlines()]
    return [line for line in lines if line.startswith("ipucloud ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_on_pages_exist(page: Path) -> None:
    for line in commands(page):
        _, *words = shlex.split(line, comments=True)
        words = words[: words.index("--")] if "--" in words else words
        command: Any = cli
        context = command.make_context("ipucloud", [], resilient_parsing=True)
        while isinstance(context.command, TyperGroup) and words and not words[0].startswith("-"):
            command = context.command.get_command(context, words[0])
            assert command is not None, line
            context = command.make_context(words.pop(0), [], parent=context, resilient_parsing=True)
        known = {name for each in context.command.params for name in (*each.opts, *each.secondary_opts)}
        assert {word for word in words if word.startswith("-")} <= known, line
