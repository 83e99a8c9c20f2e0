"""Statements with typed rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

from ipucloud.db.statements import Statements

Row = TypeVar("Row", bound=tuple[Any, ...])


class Query(Generic[Row]):
    """A statement, and the NamedTuple of its rows: a field for each column, in order.

    `tests/feature/db/test_statements.py` compares the fields with the columns that PostgreSQL describes. It cannot
    check which columns may be NULL: the author must know. `options` are SQLAlchemy's execution options.
    """

    def __init__(self, sql: str, row: type[Row], **options: object) -> None:
        self.statement = sa.text(sql).execution_options(**options)
        self.row = row

    async def all(self, connection: Statements, parameters: Mapping[str, object] | None = None) -> list[Row]:
        """Every row. Raises what `Statements.execute` raises, as the others do."""
        return [self.row(*found) for found in await connection.execute(self.statement, parameters)]

    async def one(self, connection: Statements, parameters: Mapping[str, object] | None = None) -> Row:
        """The only row. Raises sqlalchemy.exc.NoResultFound or MultipleResultsFound."""
        return self.row(*(await connection.execute(self.statement, parameters)).one())

    async def one_or_none(self, connection: Statements, parameters: Mapping[str, object] | None = None) -> Row | None:
        """The only row, if there is one. Raises sqlalchemy.exc.MultipleResultsFound."""
        found = (await connection.execute(self.statement, parameters)).one_or_none()
        return None if found is None else self.row(*found)
