"""Recording the statements of a real request, and replaying them as often as one likes, each time with fresh ids."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID

import sqlalchemy as sa
from psycopg.types.json import Jsonb

from bench.driver import Connection
from ipucloud.clusters.operations.create import FIRST_INCARNATION
from ipucloud.db.driver import Query
from ipucloud.kernel.ids import external_name, new_id

DIGEST_BYTES = 32
_PLACEHOLDER = re.compile(r"%\((\w+)\)s|%%")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement as it went to the driver."""

    query: Query
    values: tuple[object, ...]


Recording = Sequence[Statement]
Answered: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, object]]


@contextmanager
def recording() -> Iterator[list[Statement]]:
    """Collect what every SQLAlchemy engine of this process executes meanwhile."""
    statements: list[Statement] = []

    def note(*event: Any) -> None:
        _, _, text, parameters, _, executemany = event
        statements.extend(_statement(text, each) for each in (parameters if executemany else [parameters]))

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)


def _statement(text: str, parameters: Mapping[str, object]) -> Statement:
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return "%"
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    query = Query(_PLACEHOLDER.sub(number, text).encode(), tuple(names))
    return Statement(query, tuple(parameters[name] for name in names))


class Replay:
    """A transaction that can be had again: what differs between two recordings of it is made fresh each time.

    Differing uuids become new ones, also inside texts and as external names. The `name` of the first recording's object
    and digests become new ones too. What a statement is sent of an earlier one's answer, `answered` makes of
    each row of an answer, by the names of the parameters of the next statement that has them all.
    """

    def __init__(self, first: Recording, second: Recording, *, name: str, answered: Answered) -> None:
        if [each.query for each in first] != [each.query for each in second]:
            raise ValueError("two requests of the same kind sent different statements")
        self.statements = first
        self._name = name
        self._answered = answered
        pairs = zip(_all_values(first), _all_values(second), strict=True)
        differing = {first_value for first_value, second_value in pairs if first_value != second_value}
        self._ids = frozenset(value for value in differing if isinstance(value, UUID))
        self._digests = frozenset(
            value for value in differing if isinstance(value, bytes) and len(value) == DIGEST_BYTES
        )

    async def run(self, connection: Connection, number: int) -> None:
        """Once more, in one transaction, for the object of that number."""
        fresh = {old: new_id() for old in self._ids}
        texts = {self._name: f"{self._name}-{number}"}
        for old, new in fresh.items():
            texts[str(old)] = str(new)
            texts[external_name(old, FIRST_INCARNATION)] = external_name(new, FIRST_INCARNATION)
        renew = _renewal(fresh, texts, self._digests)
        answered: Mapping[str, object] = {}
        for statement in self.statements:
            values = dict(zip(statement.query.names, map(renew, statement.values), strict=True))
            if answered.keys() <= values.keys():
                values |= answered
                answered = {}
            cursor = await connection.execute(statement.query.text, list(values.values()))
            if cursor.description is not None:
                for row in await cursor.fetchall():
                    names = [column.name for column in cursor.description]
                    answered = self._answered(dict(zip(names, row, strict=True))) or answered
        await connection.commit()


def _renewal(
    fresh: Mapping[UUID, UUID], texts: Mapping[str, str], digests: frozenset[bytes]
) -> Callable[[object], object]:
    stale = re.compile("|".join(re.escape(text) for text in texts))

    def renewed(text: str) -> str:
        return stale.sub(lambda match: texts[match[0]], text)

    def renew(value: object) -> object:
        new = value
        match value:
            case UUID():
                new = fresh.get(value, value)
            case str():
                new = renewed(value)
            case bytes() if value in digests:
                new = os.urandom(DIGEST_BYTES)
            case bytes() if len(value) != DIGEST_BYTES:
                new = renewed(value.decode()).encode()
            case list():
                new = [renew(item) for item in value]
            case dict():
                new = {name: renew(item) for name, item in value.items()}
            case Jsonb(obj=inner):
                new = Jsonb(renew(inner))
        return new

    return renew


def _all_values(statements: Recording) -> Iterator[object]:
    for statement in statements:
        for value in statement.values:
            if isinstance(value, list):
                yield from value
            elif not isinstance(value, Jsonb):
                yield value
