"""A dataset as Parquet. Only what differs from row to row leaves the database; all else is taken from the series.

Nothing is done row by row: a column is computed as a whole, or taken from the series. Importing this module loads
Arrow, about 60 MB, so workers do not.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from psycopg import sql

from ipucloud.billing.exports.csv_rows import Progress
from ipucloud.billing.exports.datasets import Column, Kind, Source
from ipucloud.billing.exports.invoiced import constants, small_rows
from ipucloud.billing.exports.selection import Connection, Selection, text
from ipucloud.billing.exports.series import JOIN, charges_in, make_series, windows
from ipucloud.contract.exports import Dataset

AT_HAND = 20_000
"""Series held in memory for the whole file: about 50 MB."""
BATCH_BYTES = 4 << 20
"""Of narrow rows: about 190,000, which are a row group."""

Report: TypeAlias = Callable[[], None]
_DECIMAL = pa.decimal128(38, 10)
_TEXT = pa.dictionary(pa.int32(), pa.string())
_TIME = pa.timestamp("us", tz="UTC")
_COUNT = pa.decimal128(10, 0)
_PRICE = pa.decimal128(20, 10)
"""As the database has prices; a count times a price is exact, and no wider than a `_DECIMAL`."""
_LONG = frozenset({"x_ChargeId"})
"""Texts of which each row has its own: a dictionary would only cost."""
_SOUGHT = ["ChargePeriodEnd", "ChargePeriodStart", "RegionId", "SkuId", "SubAccountId"]
"""Columns by which readers leave row groups out; a minimum and a maximum of every other one would only cost."""
_NARROW = {
    "no": "s.no",
    "minutes": "c.minutes",
    "started": "date_part('epoch', c.started_at - c.hour)::integer",
    "ended": "date_part('epoch', c.ended_at - c.hour)::integer",
    "first_minute": "c.first_minute",
    "rev": "c.rev",
}
"""A row's own values besides its hour, with their SQL: integers; times are in seconds from the hour."""
_OF_SERIES = {
    "no": pa.int32(),
    "quantity": pa.int32(),
    "ipus": pa.int32(),
    "resource": pa.string(),
    "description": pa.string(),
}
"""What the rows' own columns are computed from besides."""
_SERIES = "SELECT *, resource_id::text AS resource FROM export_series WHERE no = ANY(%(numbers)s) ORDER BY no"
# The rows of an hour at once: fetching them one by one would be half of the work.
_HOURS = """
SELECT date_part('epoch', hour)::bigint, count(*), convert_to(string_agg({line}, ''), 'UTF8')
  FROM ({rows}) AS charge GROUP BY hour ORDER BY hour
"""
_LINE = text("concat(" + ", ',', ".join(_NARROW) + ", E'\\n')")
_ROW = text("c.hour, " + ", ".join(f"{expression} AS {name}" for name, expression in _NARROW.items()))


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
    schema = pa.schema([pa.field(each.name, _type_of(each), nullable=each.null) for each in selection.columns])
    progress.of_months = len(selection.parts)
    with pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        store_schema=False,
        use_dictionary=[name for name in schema.names if name not in _LONG],
        write_statistics=[name for name in _SOUGHT if name in schema.names],
        version="2.6",
    ) as writer:
        for part in selection.parts:
            if part.dataset is Dataset.COST_AND_USAGE:
                _write_usage(connection, part, progress, report, writer=writer, at_hand=at_hand)
            small = _read(connection, part, small_rows(part), part.values, schema)
            if small.num_rows:
                writer.write_batch(small)
            progress.rows += small.num_rows
            progress.finish_month()


def _write_usage(
    connection: Connection, selection: Selection, progress: Progress, report: Report, *, writer: Any, at_hand: int
) -> None:
    """The usage of a month."""
    shared = [writer.schema.field(each.name) for each in selection.columns if each.source is not Source.ROW]
    kinds = pa.schema([*shared, *_OF_SERIES.items()])

    def read(numbers: Iterable[int]) -> Any:
        return _read(connection, selection, text(_SERIES), {"numbers": list(numbers)}, kinds)

    count = make_series(connection, selection)
    every = read(range(1, count + 1)) if 0 < count <= at_hand else None

    def pack(batch: _Batch) -> int:
        narrow = batch.read()
        series = read(pc.unique(narrow["no"]).to_pylist()) if every is None else every
        taken = series.take(pc.index_in(narrow["no"], series["no"]))
        columns = {**dict(zip(taken.schema.names, taken.columns, strict=True)), **_of_rows(batch, narrow, taken)}
        writer.write_table(pa.table([columns[name] for name in writer.schema.names], schema=writer.schema))
        return batch.ends[-1]

    with ThreadPoolExecutor(1) as pool:
        # Rows are packed while the database produces the next ones, at most one batch behind.
        packing: Future[int] | None = None
        for batch in _batches(connection, selection, progress, report):
            progress.rows += 0 if packing is None else packing.result()
            packing = pool.submit(pack, batch)
        progress.rows += 0 if packing is None else packing.result()


@dataclass
class _Batch:
    """Narrow rows as lines of text, and the hours they are of: when each begins, and where its rows end."""

    lines: io.BytesIO = field(default_factory=io.BytesIO)
    hours: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def add(self, hour: int, rows: int, lines: bytes) -> None:
        """`hour` in seconds of the epoch."""
        self.lines.write(lines)
        self.hours.append(hour)
        self.ends.append(rows + (self.ends[-1] if self.ends else 0))

    def read(self) -> dict[str, Any]:
        """The columns of `_NARROW`."""
        self.lines.seek(0)
        table = pa_csv.read_csv(
            self.lines,
            read_options=pa_csv.ReadOptions(column_names=list(_NARROW), block_size=BATCH_BYTES * 4),
            convert_options=pa_csv.ConvertOptions(column_types=dict.fromkeys(_NARROW, pa.int32())),
        )
        return {name: table[name].combine_chunks() for name in _NARROW}

    def per_row(self, of_hours: Iterable[Any], kind: Any) -> Any:
        """For each row the value of its hour."""
        runs = pa.RunEndEncodedArray.from_arrays(pa.array(self.ends, pa.int32()), pa.array(of_hours, kind))
        return pc.run_end_decode(runs)


def _batches(connection: Connection, selection: Selection, progress: Progress, report: Report) -> Iterator[_Batch]:
    days = windows(connection, selection)
    progress.of = len(days) + 1
    batch = _Batch()
    for window in days:
        query = text(_HOURS).format(line=_LINE, rows=charges_in(selection, window, _ROW, JOIN))
        with connection.cursor("hours", binary=True) as cursor:
            cursor.itersize = 8
            for hour, rows, lines in cursor.execute(query, selection.values):
                batch.add(hour, rows, lines)
                if batch.lines.tell() >= BATCH_BYTES:
                    yield batch
                    batch = _Batch()
        progress.done += 1
        report()
    if batch.hours:
        yield batch


def _of_rows(batch: _Batch, narrow: Mapping[str, Any], series: Any) -> dict[str, Any]:
    """The columns that differ from row to row. A charge costs minutes times machines times price, as in the ledger.

    `series`: what the series of each row has.
    """
    minutes = narrow["minutes"]
    machine_minutes = pc.multiply_checked(minutes, series["quantity"])
    cost = _cost(machine_minutes, series["ContractedUnitPrice"])
    hours = batch.per_row([hour * 1_000_000 for hour in batch.hours], pa.int64())
    return {
        "BilledCost": cost,
        # As many different ones as there are series and numbers of minutes: `ipu-m2000 x4, 60 min`.
        "ChargeDescription": pc.binary_join_element_wise(
            series["description"], minutes.cast(pa.string()), " min", ""
        ).dictionary_encode(),
        "ChargePeriodEnd": _instants(hours, narrow["ended"]),
        "ChargePeriodStart": _instants(hours, narrow["started"]),
        "ConsumedQuantity": pc.multiply_checked(machine_minutes, series["ipus"]).cast(_DECIMAL),
        "ContractedCost": cost,
        "EffectiveCost": cost,
        "ListCost": _cost(machine_minutes, series["ListUnitPrice"]),
        "PricingCurrencyEffectiveCost": cost,
        "PricingQuantity": machine_minutes.cast(_DECIMAL),
        "x_ChargeId": pc.binary_join_element_wise(
            batch.per_row([f"{datetime.fromtimestamp(hour, UTC):%Y%m%dT%H}" for hour in batch.hours], pa.string()),
            series["resource"],
            narrow["first_minute"].cast(pa.string()),
            narrow["rev"].cast(pa.string()),
            "-",
        ),
        "x_Revision": narrow["rev"].cast(_DECIMAL),
    }


def _cost(machine_minutes: Any, price: Any) -> Any:
    return pc.multiply(machine_minutes.cast(_COUNT), price.cast(_PRICE)).cast(_DECIMAL)


def _instants(hours: Any, seconds: Any) -> Any:
    return pc.add(hours, pc.multiply(seconds.cast(pa.int64()), 1_000_000)).cast(_TIME)


def _read(
    connection: Connection,
    selection: Selection,
    query: sql.SQL | sql.Composed,
    values: Mapping[str, object],
    schema: Any,
) -> Any:
    """The rows of a query, with the constants of the dataset where it has no column of the name."""
    with connection.cursor() as cursor:
        rows = cursor.execute(query, values).fetchall()
        found = {column.name: [row[place] for row in rows] for place, column in enumerate(cursor.description or ())}
    fixed = {name: _midnight(value) for name, value in constants(selection).items()}
    arrays = [_array(found.get(field.name, [fixed.get(field.name)] * len(rows)), field.type) for field in schema]
    return pa.record_batch(arrays, schema=schema)


def _array(values: list[Any], kind: Any) -> Any:
    return pa.array(values, pa.string()).dictionary_encode() if kind == _TEXT else pa.array(values, kind)


def _type_of(column: Column) -> Any:
    if column.kind is Kind.DECIMAL:
        return _DECIMAL
    if column.kind is Kind.TIME:
        return _TIME
    return pa.string() if column.name in _LONG else _TEXT


def _midnight(value: object) -> object:
    return datetime.combine(value, time(), UTC) if isinstance(value, date) else value
