"""A dataset as CSV, formatted by the database: COPY returns every row as it is in the file.

A line of Cost and Usage has some seventy cells, of which a dozen differ from row to row. The runs of cells between
those are built once for each series; a row joins them with its own cells in one `concat`. That is faster than COPY of
seventy columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from psycopg import sql

from ipucloud.billing.exports.datasets import Column, Kind, Source
from ipucloud.billing.exports.invoiced import constants, small_rows_as_text
from ipucloud.billing.exports.selection import Connection, Selection, text
from ipucloud.billing.exports.series import charges_in, fixed_text, make_series, time_text, windows
from ipucloud.contract.exports import Dataset

_MAKE_LINES = """
DROP TABLE IF EXISTS export_lines;
CREATE TEMPORARY TABLE export_lines ON COMMIT DROP AS
SELECT resource_id, price_id, quantity, account_id, list_unit_price, since, ipus, at_list_price,
       resource_id::text AS resource, '"' || replace(description, '"', '""') AS description, {runs}
  FROM export_series AS s
"""
_INDEX_LINES = """
CREATE INDEX ON export_lines (resource_id, price_id, quantity, account_id, list_unit_price, since)
"""
# Sorted before it is joined, while a row is narrow; the lateral join keeps the order. What it is joined by are columns,
# of which PostgreSQL knows how many values there are: so it looks each series up once, and remembers it.
_ROW = """
CASE c.credited WHEN 0 THEN c.cost ELSE c.cost + c.minutes * c.credited * c.unit_price END::text AS cost,
{started} AS started, {ended} AS ended, c.minutes, c.minutes * (c.quantity + c.credited) AS priced,
c.first_minute, c.rev, c.resource_id, c.price_id, c.quantity, c.credited, c.account_id, c.list_unit_price
"""
_COPY_LINES = """
COPY (
  SELECT concat({parts}, E'\\n') FROM ({rows}) AS c
   CROSS JOIN LATERAL (
     SELECT * FROM export_lines e
      WHERE (e.resource_id, e.price_id, e.quantity, e.account_id, e.list_unit_price, e.since)
          = (c.resource_id, c.price_id, c.quantity + c.credited, c.account_id, c.list_unit_price, {since})
      LIMIT 1) AS s
) TO STDOUT (FORMAT binary)
"""
_OWN = {
    "BilledCost": "c.cost",
    "ChargeDescription": "s.description, c.minutes, ' min\"'",
    "ChargePeriodEnd": "c.ended",
    "ChargePeriodStart": "c.started",
    "ConsumedQuantity": "c.priced * s.ipus, '.0'",
    "ContractedCost": "c.cost",
    "EffectiveCost": "c.cost",
    "ListCost": "CASE WHEN s.at_list_price THEN c.cost ELSE (c.priced * c.list_unit_price)::text END",
    "PricingCurrencyEffectiveCost": "c.cost",
    "PricingQuantity": "c.priced, '.0'",
    "x_ChargeId": "translate(left(c.started, 13), '-', ''), '-', s.resource, '-', c.first_minute, '-', c.rev",
    "x_Revision": "c.rev",
}
"""What a row adds, as arguments of `concat`. A charge begins within its hour."""
_COPY_CELLS = "COPY ({query}) TO STDOUT (FORMAT csv)"
_FILE_HEAD, _ROW_HEAD = 19, 6
"""Bytes before the first row of a binary COPY, and before the only cell of each row."""


@dataclass
class Progress:
    """Progress of a file: rows so far, months finished, and the part of the current one."""

    rows: int = 0
    done: int = 0
    of: int = 1
    months: int = 0
    of_months: int = 1

    def finish_month(self) -> None:
        self.months, self.done, self.of = self.months + 1, 0, 1

    @property
    def percent(self) -> int:
        return 100 * (self.months * self.of + self.done) // (self.of_months * self.of)


Piece: TypeAlias = bytes | bytearray | memoryview


def write_csv(connection: Connection, selection: Selection, progress: Progress) -> Iterator[Piece]:
    """The file in chunks: a header, then the rows in order. Memory does not grow with the rows."""
    yield ",".join(column.name for column in selection.columns).encode() + b"\n"
    progress.of_months = len(selection.parts)
    for part in selection.parts:
        yield from _month(connection, part, progress)
        progress.finish_month()


def _month(connection: Connection, selection: Selection, progress: Progress) -> Iterator[Piece]:
    if selection.dataset is Dataset.COST_AND_USAGE:
        make_series(connection, selection)
        parts = sql.SQL(", ").join(_make_lines(connection, selection))
        row = text(_ROW).format(started=time_text(sql.SQL("c.started_at")), ended=time_text(sql.SQL("c.ended_at")))
        days = windows(connection, selection)
        progress.of = len(days) + 1
        for window in days:
            rows = charges_in(selection, window, row)
            copy = text(_COPY_LINES).format(parts=parts, rows=rows, since=sql.Literal(window.since))
            yield from _lines(_copied(connection, selection, copy, progress))
    yield from _copied(connection, selection, text(_COPY_CELLS).format(query=small_rows_as_text(selection)), progress)


def _copied(connection: Connection, selection: Selection, copy: sql.Composed, progress: Progress) -> Iterator[Piece]:
    with connection.cursor() as cursor:
        with cursor.copy(copy, selection.values) as copied:
            yield from copied
        progress.rows += cursor.rowcount
    progress.done += 1


def _lines(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The text of a one-column binary COPY, which needs no unescaping, unlike COPY's text format."""
    before = _FILE_HEAD
    for piece in pieces:
        yield memoryview(piece)[before + _ROW_HEAD :]  # the end mark is shorter than a row's head
        before = 0


def _make_lines(connection: Connection, selection: Selection) -> list[sql.Composable]:
    """Build the runs of cells of every series; returns the parts of a line: runs and own cells alternating."""
    fixed = constants(selection)
    runs: list[sql.Composed] = []
    parts: list[sql.Composable] = []
    held: list[sql.Composable] = []
    for place, column in enumerate(selection.columns):
        held += [sql.SQL("','")] if place else []
        if column.source is Source.ROW:
            parts += [_run(held, runs), text(_OWN[column.name])]
            held = []
        else:
            held.append(_cell(column, fixed.get(column.name)))
    parts += [_run(held, runs)] if held else []
    connection.execute(text(_MAKE_LINES).format(runs=sql.SQL(", ").join(runs)))
    connection.execute(_INDEX_LINES)
    connection.execute("ANALYZE export_lines")
    return parts


def _run(cells: list[sql.Composable], runs: list[sql.Composed]) -> sql.Composable:
    name = sql.Identifier(f"run_{len(runs)}")
    runs.append(text("concat({}) AS {}").format(sql.SQL(", ").join(cells or [sql.SQL("''")]), name))
    return name


def _cell(column: Column, value: object) -> sql.Composable:
    """A cell of a series, quoted as RFC 4180 requires; empty for null."""
    if column.source is Source.ALL:
        return sql.Literal(_quoted(fixed_text(value) or ""))
    if column.kind is Kind.DECIMAL:
        return sql.Identifier("s", column.name)
    return text(
        """CASE WHEN {cell} ~ '[",\\r\\n]' THEN '"' || replace({cell}, '"', '""') || '"' ELSE {cell} END"""
    ).format(cell=sql.Identifier("s", column.name))


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if re.search('[",\r\n]', cell) else cell
