"""The Python examples of the documentation: blocks of Markdown, in pages and in the SDK's docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

PROJECT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^( *)```python\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """The blocks of one page or docstring, in order: one program."""

    name: str
    program: str

    def __str__(self) -> str:
        return self.name


def examples() -> Iterator[Example]:
    """Every one in the README, in docs/ and in docstrings of `ipucloud.client`."""
    for page in (PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))):
        yield from _of(str(page.relative_to(PROJECT)), page.read_text())
    for module in sorted((PROJECT / "src" / "ipucloud" / "client").rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"{module.relative_to(PROJECT)}:{getattr(node, 'name', 'module')}"
                yield from _of(name, ast.get_docstring(node) or "")


def _of(name: str, text: str) -> Iterator[Example]:
    blocks = [dedent(block) for _, block in _BLOCK.findall(text)]
    if blocks:
        yield Example(name, "\n".join(blocks))
