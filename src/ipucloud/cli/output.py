"""Standard output: tables for people, one JSON document for programs."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import typer
from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ipucloud.cli.times import relative

WIDE = 10_000
"""Width without a terminal: a row is one line, whatever its length."""
NARROWEST_PROSE = 24
"""Columns that a terminal must have for the text of a `wrap` column."""
_GAP = 2

_COLOURS = {
    "green": "active running succeeded delivered enabled ok up",
    "yellow": "creating resizing suspending resuming rebooting rebuilding deleting resetting removing queued cancelling"
    " pending degraded unknown",
    "red": "error failed missing disabled down",
    "bright_black": "suspended off cancelled deleted removed revoked expired preempted",
}
_STYLE_OF = {state: colour for colour, states in _COLOURS.items() for state in states.split()}


def console(stream: TextIO) -> Console:
    """A console that never interprets data as markup."""
    return Console(file=stream, markup=False, highlight=False, emoji=False, width=None if stream.isatty() else WIDE)


def write_json(value: object) -> None:
    """One JSON document: on one line for a program, indented on a terminal."""
    text = json.dumps(plain(value), ensure_ascii=False, indent=2 if sys.stdout.isatty() else None)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()  # a pipe's reader may wait for this document while the command continues


def plain(value: object) -> object:
    """`value` as JSON values; models as the service sent them."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def write_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], drop: Sequence[str] = (), wrap: str | None = None
) -> None:
    """One line for each row, with every column in a pipe.

    A terminal that is too narrow shows fewer columns: those named in `drop` go first, in that order. The column `wrap`
    has prose, which continues on the next line. Nothing else is wrapped, and nothing is truncated: an id can be copied.
    """
    on_terminal = sys.stdout.isatty()
    cells = [[_cell(title, value, on_terminal) for title, value in zip(columns, row, strict=True)] for row in rows]
    widths = {title: max([len(title), *(row[place].cell_len for row in cells)]) for place, title in enumerate(columns)}
    screen = console(sys.stdout)
    kept = _fitting(widths, drop, wrap, screen.width)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in kept:
        table.add_column(title, no_wrap=title != wrap, overflow="fold")
    for row in cells:
        table.add_row(*(cell for title, cell in zip(columns, row, strict=True) if title in kept))
    screen.width = max(screen.width, _needed(kept, wrap))  # rather a line that the terminal breaks than a lost end
    screen.print(table)


def write_facts(facts: Iterable[tuple[str, object]]) -> None:
    """Names and values, one per line, without None."""
    on_terminal = sys.stdout.isatty()
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        if value is not None:
            text = _cell(name, value, on_terminal=False)
            if on_terminal and isinstance(value, datetime):
                text.append(f" ({relative(value)})")
            table.add_row(name, text)
    console(sys.stdout).print(table)


def shown(value: object) -> Text:
    """A value for people: times in UTC to the second, None as a dash, no control characters."""
    if value is None or value == "":
        return Text("-")
    if isinstance(value, datetime):
        return Text(f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z")
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, list | tuple):
        return Text(", ".join(shown(item).plain for item in value) or "-")
    return Text(harmless(str(value)))


def harmless(text: str) -> str:
    """`text` without terminal control characters, which another service at the URL could send."""
    return "".join(" " if unicodedata.category(each) in {"Cc", "Cf"} else each for each in text)


def _cell(title: str, value: object, on_terminal: bool) -> Text:
    """On a terminal, times are relative. States have a colour."""
    if on_terminal and isinstance(value, datetime):
        return Text(relative(value))
    text = shown(value)
    if title.lower() in {"state", "health"}:
        text.stylize(_STYLE_OF.get(text.plain.partition(":")[0], ""))
    return text


def _fitting(widths: dict[str, int], drop: Sequence[str], wrap: str | None, available: int) -> dict[str, int]:
    """The columns to show, with their widths."""
    kept = dict(widths)
    for title in drop:
        if _needed(kept, wrap) <= available:
            break
        kept.pop(title, None)
    return kept


def _needed(widths: dict[str, int], wrap: str | None) -> int:
    least = [min(width, NARROWEST_PROSE) if title == wrap else width for title, width in widths.items()]
    return sum(least) + _GAP * (len(least) - 1)


def writable(path: Path | None) -> Path | None:
    """For `callback=` of an option or argument: the path of a file that can be written. Raises BadParameter."""
    if path is None:
        return None
    folder = path.absolute().parent
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a directory. Name a file in it.")
    if not folder.is_dir():
        raise typer.BadParameter(f"The directory {folder} does not exist.")
    if not os.access(folder if _is_replaced(path) else path, os.W_OK):
        raise typer.BadParameter(f"{path} cannot be written: permission denied.")
    return path


def write(path: Path, content: bytes) -> None:
    """Write the whole file or nothing; an existing one is replaced."""
    if not _is_replaced(path):
        path.write_bytes(content)
        return
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_bytes(content)
    unfinished.replace(path)


def _is_replaced(path: Path) -> bool:
    """False for a device or a pipe."""
    return path.is_file() or not path.exists()
