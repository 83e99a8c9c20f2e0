"""`python -m ipucloud.api.openapi PATH` writes the OpenAPI document, the same bytes for the same code."""

from __future__ import annotations

import sys
from pathlib import Path

import orjson

from ipucloud.api.app import create_app
from ipucloud.config import Settings


def document() -> bytes:
    """The document as it is committed: sorted, indented, with a final newline."""
    options = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(create_app(Settings.model_construct()).document, option=options)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m ipucloud.api.openapi PATH\n")
        return 2
    Path(arguments[0]).write_bytes(document())
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
