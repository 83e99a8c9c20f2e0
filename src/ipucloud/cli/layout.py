"""The layout of a table: `-o` chooses its columns, `--sort` the order of its rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, TypeVar

import typer

from ipucloud.cli.output import shown
from ipucloud.client.errors import UsageError
from ipucloud.client.models import Money

Item = TypeVar("Item")

_COLUMNS = "columns="
_NUMBER = re.compile(r"([0-9]+)")
_EMPTY: tuple[object, ...] = (None, "", [], ())

Columns = Annotated[
    str | None,
    typer.Option("-o", metavar="columns=A,B", help="Show these columns, in this order."),
]
Sort = Annotated[
    str | None, typer.Option("--sort", metavar="COLUMN", help="Sort by this column; with `-` before it downwards.")
]


@dataclass(frozen=True)
class Layout:
    """What `-o` and `--sort` say; None: as the command has it."""

    columns: str | None = None
    sort: str | None = None

    def chosen(self, titles: Sequence[str]) -> list[str] | None:
        """The titles of the columns to show; None: all that fit. Raises UsageError."""
        if self.columns is None:
            return None
        if not self.columns.startswith(_COLUMNS):
            raise UsageError(f"Write {self.columns} as columns=A,B, with some of: {_names(titles)}.")
        return [*dict.fromkeys(_title(each, titles) for each in self.columns.removeprefix(_COLUMNS).split(","))]

    def sorted(
        self, items: Iterable[Item], titles: Sequence[str], row: Callable[[Item], Sequence[object]]
    ) -> list[Item]:
        """The items, those without a value last. Raises UsageError."""
        if self.sort is None:
            return [*items]
        place = titles.index(_title(self.sort.removeprefix("-"), titles))
        values = [(row(item)[place], item) for item in items]
        ranked = [(_rank(value), item) for value, item in values if value not in _EMPTY]
        ranked.sort(key=lambda each: each[0], reverse=self.sort.startswith("-"))
        return [item for _, item in ranked] + [item for value, item in values if value in _EMPTY]


def _title(name: str, titles: Sequence[str]) -> str:
    for title in titles:
        if _name(title) == _name(name):
            return title
    raise UsageError(f"There is no column {name.strip()}. Columns: {_names(titles)}.")


def _names(titles: Sequence[str]) -> str:
    return ", ".join(map(_name, titles))


def _name(title: str) -> str:
    return title.strip().lower().replace(" ", "-").replace("_", "-")


def _rank(value: object) -> tuple[Any, ...]:  # Any: comparable only with those of the same first item
    """What to compare: amounts by currency, and numbers in a text as numbers."""
    if isinstance(value, Money):
        return 1, value.currency, value.amount
    if isinstance(value, int | float | Decimal):
        return 0, value
    if isinstance(value, datetime):
        return 2, value
    parts = _NUMBER.split(shown(value).plain.lower())
    return 3, [int(part) if place % 2 else part for place, part in enumerate(parts)]
