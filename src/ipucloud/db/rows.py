"""Statements with typed rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cached_property
from operator import itemgetter
from types import NoneType, UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

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

    @cached_property
    def build(self) -> Callable[[Sequence[Any]], Value]:
        """Makes a row of the values of its columns. Made with the first one: a process has hundreds of statements."""
        return _maker(self.row)

    async def all(self, connection: Statements, parameters: Mapping[str, object] | None = None) -> list[Value]:
        """Every row. Raises what `Statements.execute` raises, as the others do."""
        return [self.build(row) for row in await connection.execute(self.statement, parameters)]

    async def one(self, connection: Statements, parameters: Mapping[str, object] | None = None) -> Value:
        """The only row. Raises sqlalchemy.exc.NoResultFound or MultipleResultsFound."""
        return self.build((await connection.execute(self.statement, parameters)).one())

    async def one_or_none(self, connection: Statements, parameters: Mapping[str, object] | None = None) -> Value | None:
        """The only row, if there is one. Raises sqlalchemy.exc.MultipleResultsFound."""
        row = (await connection.execute(self.statement, parameters)).one_or_none()
        return None if row is None else self.build(row)


def plain(hint: Any) -> tuple[Any, bool]:
    """A type without None, and whether that was in it."""
    if get_origin(hint) not in {UnionType, Union}:  # `Literal | None` is a Union
        return hint, False
    [kind] = [each for each in get_args(hint) if each is not NoneType]
    return kind, True


def is_row(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def _maker(kind: type[Value], place: int = 0, *, nested: bool = False) -> Callable[[Sequence[Any]], Value]:
    """Makes a row, or a single value, of the values of its columns, which begin at a place."""
    if not is_row(kind):
        return _field(kind, place, optional=False)
    fields: list[Callable[[Sequence[Any]], Any]] = []
    following = place
    for hint in get_type_hints(kind).values():
        inner, optional = plain(hint)
        fields.append(_field(inner, following, optional=optional))
        following += _width(inner)
    if not nested and all(isinstance(field, itemgetter) for field in fields):
        return lambda values: kind(*values)
    return lambda values: kind(*[field(values) for field in fields])


def _field(kind: Any, place: int, *, optional: bool) -> Callable[[Sequence[Any]], Any]:
    if is_row(kind):
        make = _maker(kind, place, nested=True)
        return (lambda values: None if values[place] is None else make(values)) if optional else make
    if isinstance(kind, type) and issubclass(kind, Enum):
        return lambda values: None if values[place] is None else kind(values[place])
    return itemgetter(place)


def _width(kind: Any) -> int:
    return sum(_width(plain(hint)[0]) for hint in get_type_hints(kind).values()) if is_row(kind) else 1
