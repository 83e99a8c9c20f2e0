"""Every SQL statement of the product, found without running the path that sends it.

`main` imports every module of `ipucloud`, notes each `sa.text` where it is called, and writes those that are alive at
the end. It takes an interpreter of its own, because the notes have to begin before the first module of the product is
imported.
"""

from __future__ import annotations

import ast
import gc
import importlib
import pickle
import pkgutil
import subprocess
import sys
from collections.abc import Container, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import psycopg
import sqlalchemy as sa
from psycopg import adapters
from psycopg.pq.abc import PGconn

import ipucloud

ROOT = Path(ipucloud.__file__).parent
ROWS = "ipucloud.db.rows"
"""Its `Query` makes the statement out of the text."""
_PYTHON = {
    "int2": "int",
    "int4": "int",
    "int8": "int",
    "text": "str",
    "varchar": "str",
    "bytea": "bytes",
    "uuid": "UUID",
    "numeric": "Decimal",
    "float4": "float",
    "float8": "float",
    "timestamptz": "datetime",
    "interval": "timedelta",
}
_NOTE = "found by tests.support.statements"


@dataclass(frozen=True, slots=True)
class Place:
    module: str
    line: int


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a row: its name, its type without None, and whether it may be None."""

    name: str
    kind: str
    optional: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement as PostgreSQL gets it, with `$1`, `$2`, … for the parameters `names`.

    `place` is the line of the module that has the statement; `written` that of the `sa.text`, which may be a helper's.
    `text` is the same with the parameters' names, as it was given to `sa.text`. `row`: the fields of what a
    `db.rows.Query` makes of a row; None for a statement without one.
    """

    place: Place
    written: Place
    text: str
    sql: str
    names: tuple[str, ...]
    row: tuple[Field, ...] | None = None

    def __str__(self) -> str:
        return f"{self.place.module}, line {self.place.line}:\n{self.sql.strip()}"


@cache
def statements() -> tuple[Statement, ...]:
    """Every statement of the product but the parts of table definitions."""
    command = [sys.executable, "-c", f"from {__name__} import main; main()"]
    written = subprocess.run(command, check=True, capture_output=True, cwd=Path(__file__).parents[2]).stdout
    every: list[Statement] = pickle.loads(written)  # noqa: S301  # by this module
    return tuple(each for each in every if not _defines_tables(each.written.module))


def calls_of_text() -> Iterator[Place]:
    """Where the sources make a statement: `sa.text` or `Query`. Raises AssertionError for another way to get at it."""
    for file in sorted(ROOT.rglob("*.py")):
        module = ".".join(("ipucloud", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        makers = set() if module == ROWS else {"sa.text"}
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sqlalchemy"):
                assert "text" not in {alias.name for alias in node.names}, f"{module}: write sa.text"
            if isinstance(node, ast.ImportFrom) and node.module == ROWS:
                makers.add("Query")
            if isinstance(node, ast.Call) and ast.unparse(node.func) in makers and not _defines_tables(module):
                yield Place(module, node.lineno)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an answer. `nullable`: it is a column of a table, as it is, which may be NULL there."""

    name: str
    kinds: frozenset[str]
    nullable: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """What PostgreSQL says of a statement: the columns of its answer, or why it refuses it."""

    statement: Statement
    columns: tuple[Column, ...] = ()
    refusal: str | None = None


def prepared(url: str) -> list[Prepared]:
    """Every statement, prepared in the database at `url`.

    It goes there as `db.driver` sends it, except that the types of the parameters are left open: what a statement needs
    to know of them it says itself.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        nullable = set(
            connection.execute(
                "SELECT attrelid, attnum FROM pg_attribute JOIN pg_class c ON c.oid = attrelid"
                " WHERE relkind IN ('r', 'p') AND NOT attnotnull"
            )
        )
        return [_prepare(connection.pgconn, statement, nullable) for statement in statements()]


def refusals(url: str) -> list[str]:
    """What PostgreSQL refuses to prepare, or describes otherwise than the row says, with the reason."""
    return [f"{each.statement}\n{fault}" for each in prepared(url) if (fault := _fault(each)) is not None]


def _prepare(connection: PGconn, statement: Statement, nullable: Container[tuple[int, int]]) -> Prepared:
    answer = connection.prepare(b"", statement.sql.encode(), [])
    if answer.status != psycopg.pq.ExecStatus.COMMAND_OK:
        return Prepared(statement, refusal=answer.get_error_message())
    described = connection.describe_prepared(b"")
    columns = (
        Column(
            (described.fname(at) or b"").decode(),
            _kinds(described.ftype(at)),
            (described.ftable(at), described.ftablecol(at)) in nullable,
        )
        for at in range(described.nfields)
    )
    return Prepared(statement, tuple(columns))


def _fault(answered: Prepared) -> str | None:
    row = answered.statement.row
    if answered.refusal is not None or row is None:
        return answered.refusal
    if len(row) == len(answered.columns) and all(map(_fits, row, answered.columns)):
        return None
    return f"The row has {row}, the answer {[(each.name, sorted(each.kinds)) for each in answered.columns]}"


def _fits(field: Field, column: Column) -> bool:
    return field.name in {"", column.name} and not column.kinds.isdisjoint({field.kind, field.kind.partition("[")[0]})


def _kinds(oid: int) -> frozenset[str]:
    """The Python types that the driver makes of a PostgreSQL type; lists and dicts of JSON are not looked into."""
    known = adapters.types.get(oid)
    if known is None:
        return frozenset()
    if known.name in {"json", "jsonb"}:
        return frozenset({"dict", "list"})
    kind = _PYTHON.get(known.name, known.name)
    return frozenset({kind if oid == known.oid else f"list[{kind}]"})


def _defines_tables(module: str) -> bool:
    return module == "ipucloud.db.base" or module.endswith("tables")


def _note_places() -> None:
    """From now on a clause knows where it was made; copies that SQLAlchemy makes of it inherit that."""
    plain = sa.text

    def noting(text: str) -> sa.TextClause:
        clause = plain(text)
        caller = sys._getframe(2 if sys._getframe(1).f_globals["__name__"] == ROWS else 1)
        clause.__dict__[_NOTE] = _place(_module_level(caller) or caller), _place(caller)
        return clause

    sa.text = noting


def _module_level(frame: FrameType | None) -> FrameType | None:
    """The nearest frame of a module of the product that is being imported."""
    while frame and not (frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(str(ROOT))):
        frame = frame.f_back
    return frame


def _place(frame: FrameType) -> Place:
    return Place(frame.f_globals["__name__"], frame.f_lineno)


def _make_what_is_made_on_demand() -> list[object]:
    """Statements that depend on a request's values: some of each, to be kept until they are noted."""
    reports = importlib.import_module("ipucloud.billing.reports.report")
    groups = [*reports.Group, reports.TAG]
    return [reports._statement(tuple(some)) for some in ([], groups, *([group] for group in groups))]


def _collect() -> Iterator[Statement]:
    _note_places()
    for module in pkgutil.walk_packages([str(ROOT)], "ipucloud."):
        importlib.import_module(module.name)
    on_demand = _make_what_is_made_on_demand()
    query = importlib.import_module("ipucloud.db.driver").query
    typed = _rows().Query
    gc.collect()  # what a typed copy took the place of
    rows = {id(each.statement): each.row for each in gc.get_objects() if isinstance(each, typed)}
    for clause in gc.get_objects():
        if isinstance(clause, sa.TextClause) and _NOTE in clause.__dict__:
            place, written = clause.__dict__[_NOTE]
            compiled = query(clause)
            row = rows.get(id(clause))
            fields = None if row is None else tuple(_fields(row))
            yield Statement(place, written, clause.text, compiled.text.decode(), compiled.names, fields)
    on_demand.clear()


def _rows() -> Any:
    """The module that `ROWS` names; it must not be imported before `sa.text` takes notes."""
    return importlib.import_module(ROWS)


def _fields(row: type, *, optional: bool = False) -> Iterator[Field]:
    """The fields, those of a row within in its place; for a single value one without a name."""
    if not _rows().is_row(row):
        yield Field("", _kind(row), optional=False)
        return
    for name, hint in get_type_hints(row).items():
        kind, may_be_none = _rows().plain(hint)
        if _rows().is_row(kind):
            yield from _fields(kind, optional=optional or may_be_none)
        else:
            yield Field(name, _kind(kind), optional or may_be_none)


def _kind(kind: Any) -> str:
    """The name of a field's type, without what it holds unless that is a list."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "str"
    if get_origin(kind) is Literal:
        return type(get_args(kind)[0]).__name__
    if get_origin(kind) is list:
        item, _ = _rows().plain(get_args(kind)[0])
        return f"list[{getattr(get_origin(item) or item, '__name__', 'Any')}]"
    return str((get_origin(kind) or kind).__name__)


def main() -> None:
    """Write every statement to the standard output."""
    collected = sorted(_collect(), key=lambda each: (each.place.module, each.place.line, each.sql))
    pickle.dump(collected, sys.stdout.buffer)
