"""Standard output: tables for people, one JSON document for programs."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TextIO

from pydantic import BaseModel
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDE = 240
"""Table width without a terminal, so that `| grep` sees whole lines."""


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


def write_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")  # a truncated id cannot be copied
    for row in rows:
        table.add_row(*(shown(cell) for cell in row))
    console(sys.stdout).print(table)


def write_facts(facts: Iterable[tuple[str, object]]) -> None:
    """Names and values, one per line, without None."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts:
        if value is not None:
            table.add_row(name, shown(value))
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


def utc(moment: datetime | None) -> datetime | None:
    """A time from the command line; UTC unless it has an offset."""
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment
