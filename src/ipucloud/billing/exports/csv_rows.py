"""A dataset as CSV, written by the database: every row leaves COPY as it stands in the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from psycopg import sql

from ipucloud.billing.exports.datasets import Column, Dataset, Source
from ipucloud.billing.exports.invoiced import constants, small_rows_as_text
from ipucloud.billing.exports.selection import Connection, Selection, text
from ipucloud.billing.exports.series import charges_in, fixed_text, make_series, time_text, windows

_ROW: dict[str, sql.Composable] = {
    "BilledCost": text("c.cost"),
    "ChargeDescription": text("s.description || c.minutes || ' min'"),
    "ChargePeriodEnd": time_text(sql.SQL("c.ended_at")),
    "ChargePeriodStart": time_text(sql.SQL("c.started_at")),
    "ConsumedQuantity": text("c.minutes * c.quantity * s.ipus || '.0'"),
    "ContractedCost": text("c.cost"),
    "EffectiveCost": text("c.cost"),
    "ListCost": text("CASE WHEN s.at_list_price THEN c.cost ELSE c.minutes * c.quantity * c.list_unit_price END"),
    "PricingCurrencyEffectiveCost": text("c.cost"),
    "PricingQuantity": text("c.minutes * c.quantity || '.0'"),
    "x_ChargeId": text(
        "translate(left((c.hour AT TIME ZONE 'UTC')::text, 13), ' -', 'T') || '-' || c.cluster_id || '-'"
        " || c.first_minute || '-' || c.rev"
    ),
    "x_Revision": text("c.rev"),
}
_COPY = "COPY ({query}) TO STDOUT (FORMAT csv)"


Piece: TypeAlias = bytes | bytearray | memoryview


@dataclass
class Progress:
    """How far a file is: rows so far, and parts of the month done."""

    rows: int = 0
    done: int = 0
    of: int = 1


def write_csv(connection: Connection, selection: Selection, progress: Progress) -> Iterator[Piece]:
    """The file in pieces: a header, then the rows in order. Memory does not grow with the rows."""
    yield ",".join(column.name for column in selection.columns).encode() + b"\n"
    queries = [small_rows_as_text(selection)]
    if selection.dataset is Dataset.COST_AND_USAGE:
        make_series(connection, selection)
        cells = sql.SQL(", ").join(_cell(column, selection) for column in selection.columns)
        queries = [*(charges_in(selection, window, cells) for window in windows(connection, selection)), *queries]
    progress.of = len(queries)
    for query in queries:
        with connection.cursor() as cursor:
            with cursor.copy(text(_COPY).format(query=query), selection.values) as copied:
                yield from copied
            progress.rows += cursor.rowcount
        progress.done += 1


def _cell(column: Column, selection: Selection) -> sql.Composable:
    if column.source is Source.ROW:
        return _ROW[column.name]
    if column.source is Source.SERIES:
        return sql.Identifier("s", column.name)
    value = fixed_text(constants(selection).get(column.name))
    return sql.SQL("NULL") if value is None else sql.Literal(value)
