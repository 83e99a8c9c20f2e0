"""`python -m ipucloud.api.openapi PATH` writes the OpenAPI document, the same bytes for the same code."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ipucloud.api.app import create_app
from ipucloud.config import Settings

WIDTH = 160
"""Characters of a line: what fits is not broken."""


def written(document: dict[str, Any]) -> bytes:
    """The document as it is committed: sorted, indented, with a final newline."""
    return f"{_written(document)}\n".encode()


def _written(value: Any, depth: int = 0, offset: int = 0) -> str:
    """The value as JSON; `offset`: characters before it in its line, beside the indentation."""
    line = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if depth + offset + len(line) <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    if isinstance(value, list):
        return _broken("[]", [_written(each, depth + 1) for each in value], depth)
    names = {name: f"{json.dumps(name)}: " for name in sorted(value)}
    return _broken("{}", [text + _written(value[name], depth + 1, len(text)) for name, text in names.items()], depth)


def _broken(brackets: str, members: list[str], depth: int) -> str:
    indent = "\n" + " " * depth
    return f"{brackets[0]}{indent} {f',{indent} '.join(members)}{indent}{brackets[1]}"


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m ipucloud.api.openapi PATH\n")
        return 2
    Path(arguments[0]).write_bytes(written(create_app(Settings.model_construct()).document))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
