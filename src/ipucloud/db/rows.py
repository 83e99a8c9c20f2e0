"""Statements with typed rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Generic, TypeVar, get_args, get_type_hints

import sqlalchemy as sa

from ipucloud.db.statements import Statements

Row = TypeVar("Row", bound=tuple[Any, ...])
Value = TypeVar("Value")


class Query(Generic[Value]):
    """A statement, and the type of its only column, or the NamedTuple of its rows: a field for each column, in order.

    A field of an enum gets the member with the column's value. A field that is a NamedTuple itself takes as many
    columns as it has fields; if it may be None, it is when the first of them is NULL.

    `tests/feature/db/test_statements.py` compares the fields with the columns that PostgreSQL describes. It cannot
    check which columns may be NULL: the author must know. `options` are SQLAlchemy's execution options.
    """

    def __init__(self, sql: str, row: type[Value], **options: object) -> None:
        self.statement = sa.text(sql).execution_options(**options)
        self.row = row
        self.made = _maker(row)

    async def all(self, connection: Statements, parameters: Mapping[str, object] | None = None) -> list[Value]:
        """Every row. Raises what `Statements.execute` raises, as the others do."""
        return [self.made(found) for found in await connection.execute(self.statement, parameters)]

    async def one(self, connection: Statements, parameters: Mapping[str, object] | None = None) -> Value:
        """The only row. Raises sqlalchemy.exc.NoResultFound or MultipleResultsFound."""
        return self.made((await connection.execute(self.statement, parameters)).one())

    async def one_or_none(self, connection: Statements, parameters: Mapping[str, object] | None = None) -> Value | None:
        """The only row, if there is one. Raises sqlalchemy.exc.MultipleResultsFound."""
        found = (await connection.execute(self.statement, parameters)).one_or_none()
        return None if found is None else self.made(found)


def plain(hint: Any) -> tuple[Any, bool]:
    """A type without None, and whether that was in it."""
    if not isinstance(hint, UnionType):
        return hint, False
    [kind] = [each for each in get_args(hint) if each is not NoneType]
    return kind, True


def is_row(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def _maker(row: type[Value]) -> Callable[[Sequence[Any]], Value]:
    """Makes the row of the values of its columns."""
    if not is_row(row):
        field = _field(row, optional=False)
        return lambda values: field(iter(values))
    hints = [plain(hint) for hint in get_type_hints(row).values()]
    if not any(is_row(kind) or _is_enum(kind) for kind, _ in hints):
        return lambda values: row(*values)
    fields = [_field(kind, optional=optional) for kind, optional in hints]

    def make(values: Sequence[Any]) -> Value:
        left = iter(values)
        return row(*(field(left) for field in fields))

    return make


def _field(kind: Any, *, optional: bool) -> Callable[[Iterator[Any]], Any]:
    """Makes a field of the next values."""
    if _is_enum(kind):
        return lambda left: None if (value := next(left)) is None else kind(value)
    if not is_row(kind):
        return next
    make, width = _maker(kind), _width(kind)

    def nested(left: Iterator[Any]) -> Any:
        values = [next(left) for _ in range(width)]
        return None if optional and values[0] is None else make(values)

    return nested


def _width(row: type[tuple[Any, ...]]) -> int:
    kinds = (plain(hint)[0] for hint in get_type_hints(row).values())
    return sum(_width(kind) if is_row(kind) else 1 for kind in kinds)


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)
