"""A dataset as Parquet. Only what differs from row to row leaves the database; all else is a dictionary of few values.

Importing this module loads Arrow, about 60 MB, so workers do not.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, date, datetime, time
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from psycopg import sql

from ipucloud.billing.exports.csv_rows import Progress
from ipucloud.billing.exports.invoiced import constants, small_rows
from ipucloud.billing.exports.parquet_columns import LONG, NARROW, TEXT, Batch, Chosen, Placed, table_of, type_of
from ipucloud.billing.exports.selection import Connection, Selection, text
from ipucloud.billing.exports.series import charges_in, make_series, windows
from ipucloud.contract.exports import Dataset

AT_HAND = 20_000
"""Series held in memory for the whole file: about 50 MB."""

Report: TypeAlias = Callable[[], None]
_SOUGHT = ["ChargePeriodEnd", "ChargePeriodStart", "RegionId", "SkuId", "SubAccountId"]
"""Columns by which readers leave row groups out; a minimum and a maximum of every other one would only cost."""
_SERIES = "SELECT *, resource_id::text AS resource FROM export_series WHERE no = ANY(%(numbers)s) ORDER BY no"
# The rows of an hour at once: fetching them one by one would be half of the work.
_HOURS = """
SELECT date_part('epoch', hour)::bigint, count(*), convert_to(string_agg({line}, ''), 'UTF8')
  FROM ({rows}) AS charge GROUP BY hour ORDER BY hour
"""
_LINE = text("concat(" + ", ',', ".join(NARROW) + ", E'\\n')")


def write_parquet(
    connection: Connection,
    selection: Selection,
    progress: Progress,
    sink: io.RawIOBase,
    report: Report = lambda: None,
    *,
    at_hand: int = AT_HAND,
) -> None:
    """Write the file; memory holds one batch of rows at a time. `report` is called whenever `progress` changes.

    Up to `at_hand` series of a month are read once, more of them for each batch.
    """
    schema = pa.schema([pa.field(each.name, type_of(each), nullable=each.null) for each in selection.columns])
    repeated = [each.name for each in selection.columns if each.name not in LONG]
    sought = [name for name in _SOUGHT if name in schema.names]
    progress.of_months = len(selection.parts)
    with pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        store_schema=False,
        use_dictionary=repeated,
        write_statistics=sought,
        version="2.6",
    ) as writer:
        for part in selection.parts:
            if part.dataset is Dataset.COST_AND_USAGE:
                series = _Series(connection, make_series(connection, part), at_hand)
                _write_usage(connection, part, progress, report, writer=writer, series=series)
            small = _small(connection, part, schema)
            if small.num_rows:
                writer.write_table(small)
            progress.rows += small.num_rows
            progress.finish_month()


def _write_usage(
    connection: Connection, selection: Selection, progress: Progress, report: Report, *, writer: Any, series: _Series
) -> None:
    """The usage of a month."""

    def pack(batch: Batch) -> int:
        narrow = batch.read()
        writer.write_table(table_of(selection, writer.schema, batch, narrow, series.of(narrow["no"])))
        return batch.ends[-1]

    with ThreadPoolExecutor(1) as pool:
        # Rows are packed while the database produces the next ones, at most one batch behind.
        packing: Future[int] | None = None
        for batch in _batches(connection, selection, progress, report):
            progress.rows += 0 if packing is None else packing.result()
            packing = pool.submit(pack, batch)
        progress.rows += 0 if packing is None else packing.result()


def _batches(connection: Connection, selection: Selection, progress: Progress, report: Report) -> Iterator[Batch]:
    columns = [text("c.hour"), *(text(f"{expression} AS {name}") for name, (_, expression) in NARROW.items())]
    months = windows(connection, selection)
    progress.of = len(months) + 1
    batch = Batch()
    for window in months:
        query = text(_HOURS).format(line=_LINE, rows=charges_in(selection, window, sql.SQL(", ").join(columns)))
        with connection.cursor("hours", binary=True) as cursor:
            cursor.itersize = 8
            for hour, rows, lines in cursor.execute(query, selection.values):
                batch.add(hour, rows, lines)
                if batch.full:
                    yield batch
                    batch = Batch()
        progress.done += 1
        report()
    if batch.hours:
        yield batch


class _Series:
    """The series of a month: all in memory if they are few, else those of a batch at a time."""

    def __init__(self, connection: Connection, count: int, at_hand: int) -> None:
        self._connection = connection
        self._all = Chosen(self._read(list(range(1, count + 1)))) if 0 < count <= at_hand else None

    def of(self, numbers: Any) -> Placed:
        if self._all is not None:
            return Placed(pc.subtract(numbers, 1), self._all)
        chosen = Chosen(self._read(pc.unique(numbers).to_pylist()))
        return Placed(pc.index_in(numbers, pa.array(chosen.values["no"], pa.int32())), chosen)

    def _read(self, numbers: list[int]) -> Mapping[str, Sequence[Any]]:
        with self._connection.cursor() as cursor:
            cursor.execute(_SERIES, {"numbers": numbers})
            names = [column.name for column in cursor.description or ()]
            return dict(zip(names, zip(*cursor.fetchall(), strict=True), strict=True))


def _small(connection: Connection, selection: Selection, schema: Any) -> Any:
    """The rows that are not usage."""
    with connection.cursor() as cursor:
        cursor.execute(small_rows(selection), selection.values)
        names = [column.name for column in cursor.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    fixed = {name: _midnight(value) for name, value in constants(selection).items()}
    arrays = []
    for field in schema:
        values = [(fixed | row).get(field.name) for row in rows]
        plain = pa.array(values, pa.string() if field.type == TEXT else field.type)
        arrays.append(plain.dictionary_encode() if field.type == TEXT else plain)
    return pa.Table.from_arrays(arrays, schema=schema)


def _midnight(value: object) -> object:
    return datetime.combine(value, time(), UTC) if isinstance(value, date) else value
