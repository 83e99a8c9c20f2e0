"""Standard output: tables for people, one JSON document for programs."""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import typer
from pydantic import BaseModel
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ipucloud.cli.times import relative

WIDE = 10_000
"""Width without a terminal: a row is one line, whatever its length."""
NARROWEST = 24
"""Width below which no text is cut."""
_GAP = 2
_END_OF_STYLE = "\x1b[0m"
_ID = re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}")

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
    all_characters = (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(plain(value), ensure_ascii=not all_characters, indent=2 if sys.stdout.isatty() else None)
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
    """One line for each row, with every column whole in a pipe.

    A terminal that is too narrow shows fewer columns: those named in `drop` go first, in that order. Then long cells
    end with `…`: prose first, names next; ids, numbers, money and times never. The column `wrap` has prose that people
    need to the end, which continues on the next line.
    """
    on_terminal = sys.stdout.isatty()
    values = [[*row] for row in rows]
    table = [_Column(title, [row[place] for row in values], on_terminal) for place, title in enumerate(columns)]
    screen = console(sys.stdout)
    if on_terminal:
        table = _fitted(table, drop, wrap, screen.width)
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for each in table:
        is_prose = on_terminal and each.title == wrap
        grid.add_column(
            Text(harmless(each.title)),
            width=each.width,
            no_wrap=not is_prose,
            overflow="fold" if is_prose else "ellipsis",
        )
    for cells in zip(*(each.cells for each in table), strict=True):
        grid.add_row(*cells)
    screen.width = max(screen.width, _needed(each.width for each in table))  # rather a long line than a lost end
    _print(screen, grid)


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
    _print(console(sys.stdout), table)


def _print(screen: Console, table: Table) -> None:
    """Without the blanks that fill the last column."""
    with screen.capture() as captured:
        screen.print(table)
    for line in captured.get().removesuffix("\n").split("\n"):
        styled = line.rstrip()
        plain_end = styled.removesuffix(_END_OF_STYLE)
        sys.stdout.write(plain_end.rstrip() + styled[len(plain_end) :] + "\n")


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


def write_foreign(text: str, stream: TextIO) -> None:
    """What a program wrote. At a terminal nothing that controls it is shown; a file gets the text as it is."""
    stream.write("\n".join(map(harmless, text.split("\n"))) if stream.isatty() else text)
    stream.flush()


def harmless(text: str) -> str:
    """`text` without terminal control characters, which another service at the URL could send."""
    return "".join(" " if unicodedata.category(each) in {"Cc", "Cf", "Zl", "Zp"} else each for each in text)


def _cell(title: str, value: object, on_terminal: bool) -> Text:
    """On a terminal, times are relative. States have a colour."""
    if on_terminal and isinstance(value, datetime):
        return Text(relative(value))
    text = shown(value)
    if title.lower() in {"state", "health"}:
        text.stylize(_STYLE_OF.get(text.plain.partition(":")[0], ""))
    return text


class _Column:
    """A column with the width that its cells have on the screen."""

    def __init__(self, title: str, values: Sequence[object], on_terminal: bool) -> None:
        self.title = title
        self.cells = [_cell(title, value, on_terminal) for value in values]
        self.width = max(map(cell_len, (title, *(each.plain for each in self.cells))))
        shortest = min(self.width, max(NARROWEST, cell_len(title)))
        is_text = all(value is None or isinstance(value, str | list | tuple) for value in values)
        self.least = shortest if is_text and not any(_ID.fullmatch(each.plain) for each in self.cells) else self.width
        """The width to which it can be cut."""
        is_prose = any(" " in each.plain for each in self.cells if each.cell_len > shortest)
        self.least_as_prose = self.least if is_prose else self.width


def _fitted(table: list[_Column], drop: Sequence[str], wrap: str | None, available: int) -> list[_Column]:
    """The columns to show, with their widths."""
    kept = [*table]
    for title in drop:
        if _needed(each.least if each.title == wrap else each.least_as_prose for each in kept) <= available:
            break
        kept = [each for each in kept if each.title != title]
    for only_prose in (True, False):
        for column in sorted(kept, key=lambda each: each.width, reverse=True):
            excess = max(0, _needed(each.width for each in kept) - available)
            column.width = max(column.width - excess, column.least_as_prose if only_prose else column.least)
    return kept


def _needed(widths: Iterable[int]) -> int:
    each_with_gap = [width + _GAP for width in widths]
    return sum(each_with_gap) - _GAP


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
