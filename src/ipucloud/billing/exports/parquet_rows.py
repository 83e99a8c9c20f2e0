"""A dataset as Parquet. Only what differs from row to row leaves the database; all else is a dictionary of few values.

Whoever imports this module loads Arrow, which takes about 60 MB: workers do not.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from ipucloud.billing.exports.datasets import Column, Dataset, Kind, Source
from ipucloud.billing.exports.invoiced import constants, small_rows
from ipucloud.billing.exports.selection import Connection, Selection, text
from ipucloud.billing.exports.series import charges_in, make_series, windows

AT_HAND = 20_000
"""Series that are held in memory for the whole file: about 50 MB."""
BATCH_BYTES = 8 << 20
"""Of narrow rows: about 100,000, which are a row group."""

Tell: TypeAlias = Callable[[], None]
_DECIMAL = pa.decimal128(38, 10)
_TIME = pa.timestamp("us", tz="UTC")
_TEXT = pa.dictionary(pa.int32(), pa.string())
_LONG = frozenset({"x_ChargeId"})
"""Texts of which each row has its own: a dictionary would only cost."""
_NARROW = {
    "no": (pa.int32(), "s.no"),
    "minutes": (pa.int64(), "c.minutes"),
    "started": (pa.int64(), "date_part('epoch', c.started_at)::bigint"),
    "ended": (pa.int64(), "date_part('epoch', c.ended_at)::bigint"),
    "hour": (pa.int64(), "date_part('epoch', c.hour)::bigint"),
    "cost": (_DECIMAL, "c.cost"),
    "list_cost": (_DECIMAL, "CASE WHEN NOT s.at_list_price THEN c.minutes * c.quantity * c.list_unit_price END"),
    "first_minute": (pa.int32(), "c.first_minute"),
    "rev": (pa.int32(), "c.rev"),
}
_SERIES = "SELECT * FROM export_series WHERE no = ANY(%(numbers)s) ORDER BY no"
# The rows of an hour at once: taking them one by one would be half of the work.
_HOURS = """
SELECT convert_to(string_agg({line}, ''), 'UTF8') FROM ({rows}) AS charge GROUP BY hour ORDER BY hour
"""
_LINE = text("concat(" + ", ',', ".join(_NARROW) + ", E'\\n')")
_MOST_MINUTES = 1 << 20


def write_parquet(
    connection: Connection,
    selection: Selection,
    progress: Progress,
    sink: io.RawIOBase,
    tell: Tell = lambda: None,
    *,
    at_hand: int = AT_HAND,
) -> None:
    """Write the file; memory holds one batch of rows at a time. `tell` is called whenever `progress` has moved.

    Up to `at_hand` series of a month are read once, more of them for each batch.
    """
    schema = pa.schema([pa.field(each.name, _type(each), nullable=each.null) for each in selection.columns])
    repeated = [each.name for each in selection.columns if each.name not in _LONG]
    progress.of_months = len(selection.parts)
    with pq.ParquetWriter(
        sink, schema, compression="zstd", store_schema=False, use_dictionary=repeated, version="2.6"
    ) as writer:
        for part in selection.parts:
            if part.dataset is Dataset.COST_AND_USAGE:
                series = _Series(connection, make_series(connection, part), at_hand)
                _write_usage(connection, part, progress, tell, writer=writer, series=series)
            small = _small(connection, part, schema)
            if small.num_rows:
                writer.write_table(small)
            progress.rows += small.num_rows
            progress.finish_month()


def _write_usage(
    connection: Connection, selection: Selection, progress: Progress, tell: Tell, *, writer: Any, series: _Series
) -> None:
    """The usage of a month."""

    def pack(lines: io.BytesIO) -> int:
        batch = _read(lines)
        writer.write_table(_table(selection, writer.schema, batch, series))
        return int(batch.num_rows)

    with ThreadPoolExecutor(1) as pool:
        # Rows are packed while the database makes the next ones; never more than one batch behind.
        packing: Future[int] | None = None
        for lines in _batches(connection, selection, progress, tell):
            progress.rows += 0 if packing is None else packing.result()
            packing = pool.submit(pack, lines)
        progress.rows += 0 if packing is None else packing.result()


def _type(column: Column) -> Any:
    if column.kind is Kind.DECIMAL:
        return _DECIMAL
    if column.kind is Kind.TIME:
        return _TIME
    return pa.string() if column.name in _LONG else _TEXT


def _batches(connection: Connection, selection: Selection, progress: Progress, tell: Tell) -> Iterator[io.BytesIO]:
    what = sql.SQL(", ").join(text(f"{expression} AS {name}") for name, (_, expression) in _NARROW.items())
    months = windows(connection, selection)
    progress.of = len(months) + 1
    held = io.BytesIO()
    for window in months:
        query = text(_HOURS).format(line=_LINE, rows=charges_in(selection, window, what))
        with connection.cursor("hours", binary=True) as cursor:
            cursor.itersize = 8
            for (lines,) in cursor.execute(query, selection.values):
                held.write(lines)
                if held.tell() >= BATCH_BYTES:
                    yield held
                    held = io.BytesIO()
        progress.done += 1
        tell()
    if held.tell():
        yield held


def _read(lines: io.BytesIO) -> Any:
    lines.seek(0)
    return pa_csv.read_csv(
        lines,
        read_options=pa_csv.ReadOptions(column_names=list(_NARROW), block_size=BATCH_BYTES * 2),
        convert_options=pa_csv.ConvertOptions(column_types={name: kind for name, (kind, _) in _NARROW.items()}),
    ).combine_chunks()


@dataclass
class _Chosen:
    """Series by their places; `made` holds columns that were built of them."""

    values: Mapping[str, Sequence[Any]]
    made: dict[str, Any] = field(default_factory=dict)


class _Series:
    """The series of a month: all of them at hand when they are few, else those of a batch at a time."""

    def __init__(self, connection: Connection, count: int, at_hand: int) -> None:
        self._connection = connection
        self._all = _Chosen(self._read(list(range(1, count + 1)))) if 0 < count <= at_hand else None

    def of(self, numbers: Any) -> tuple[Any, _Chosen]:
        """The place of each row's series, and the series."""
        if self._all is not None:
            return pc.subtract(numbers, 1), self._all
        chosen = _Chosen(self._read(pc.unique(numbers).to_pylist()))
        return pc.index_in(numbers, pa.array(chosen.values["no"], pa.int32())), chosen

    def _read(self, numbers: list[int]) -> Mapping[str, Sequence[Any]]:
        with self._connection.cursor() as cursor:
            cursor.execute(_SERIES, {"numbers": numbers})
            names = [column.name for column in cursor.description or ()]
            return dict(zip(names, zip(*cursor.fetchall(), strict=True), strict=True))


def _table(selection: Selection, schema: Any, batch: Any, series: _Series) -> Any:
    """A batch of narrow rows with all columns."""
    narrow = {name: batch[name].combine_chunks() for name in _NARROW}
    place, chosen = series.of(narrow["no"])
    rows = _of_rows(narrow, chosen.values, place)
    fixed = constants(selection)
    arrays = []
    for column in selection.columns:
        if column.source is Source.ROW:
            arrays.append(rows[column.name])
        elif column.source is Source.SERIES:
            arrays.append(_picked(place, chosen, column))
        else:
            arrays.append(_constant(fixed.get(column.name), column, batch.num_rows))
    return pa.Table.from_arrays(arrays, schema=schema)


def _of_rows(narrow: Mapping[str, Any], series: Mapping[str, Sequence[Any]], place: Any) -> dict[str, Any]:
    """The columns that differ from row to row."""
    machine_minutes = pc.multiply(narrow["minutes"], pa.array(series["quantity"], pa.int64()).take(place))
    ipu_minutes = pc.multiply(machine_minutes, pa.array(series["ipus"], pa.int64()).take(place))
    cost = narrow["cost"]
    return {
        "BilledCost": cost,
        "ChargeDescription": _descriptions(narrow["minutes"], series["description"], place),
        "ChargePeriodEnd": _instants(narrow["ended"]),
        "ChargePeriodStart": _instants(narrow["started"]),
        "ConsumedQuantity": ipu_minutes.cast(_DECIMAL),
        "ContractedCost": cost,
        "EffectiveCost": cost,
        "ListCost": pc.coalesce(narrow["list_cost"], cost),
        "PricingCurrencyEffectiveCost": cost,
        "PricingQuantity": machine_minutes.cast(_DECIMAL),
        "x_ChargeId": pc.binary_join_element_wise(
            _hours(narrow["hour"]),
            pa.array([str(cluster) for cluster in series["cluster_id"]]).take(place),
            narrow["first_minute"].cast(pa.string()),
            narrow["rev"].cast(pa.string()),
            "-",
        ),
        "x_Revision": narrow["rev"].cast(pa.int64()).cast(_DECIMAL),
    }


def _instants(seconds: Any) -> Any:
    return pc.multiply(seconds, 1_000_000).cast(_TIME)


def _hours(seconds: Any) -> Any:
    """`20260505T10` for each hour; a batch has few of them."""
    encoded = seconds.dictionary_encode()
    names = [f"{datetime.fromtimestamp(hour, UTC):%Y%m%dT%H}" for hour in encoded.dictionary.to_pylist()]
    return pa.array(names).take(encoded.indices)


def _descriptions(minutes: Any, descriptions: Sequence[str], place: Any) -> Any:
    """`ipu-m2000 x4, 60 min`: as many different ones as there are series and numbers of minutes."""
    shifted = pc.add(minutes, _MOST_MINUTES)
    encoded = pc.add(pc.multiply(place.cast(pa.int64()), 2 * _MOST_MINUTES), shifted).dictionary_encode()
    said = [
        f"{descriptions[number // (2 * _MOST_MINUTES)]}{number % (2 * _MOST_MINUTES) - _MOST_MINUTES} min"
        for number in encoded.dictionary.to_pylist()
    ]
    return _dictionary(encoded.indices, _coded(said))


def _picked(place: Any, chosen: _Chosen, column: Column) -> Any:
    """A value of the series for each row."""
    if column.name not in chosen.made:
        values = chosen.values[column.name]
        chosen.made[column.name] = pa.array(values, _DECIMAL) if column.kind is Kind.DECIMAL else _coded(values)
    made = chosen.made[column.name]
    return made.take(place) if column.kind is Kind.DECIMAL else _dictionary(place, made)


def _coded(values: Sequence[str | None]) -> Any:
    """Texts as a dictionary; equal ones are one, in an order of their own."""
    distinct = {value: number for number, value in enumerate(sorted({value for value in values if value is not None}))}
    numbers = pa.array([None if value is None else distinct[value] for value in values], pa.int32())
    return pa.DictionaryArray.from_arrays(numbers, pa.array(list(distinct), pa.string()))


def _dictionary(places: Any, coded: Any) -> Any:
    return pa.DictionaryArray.from_arrays(coded.indices.take(places), coded.dictionary)


def _constant(value: object, column: Column, rows: int) -> Any:
    if column.kind is Kind.DECIMAL:
        return pa.nulls(rows, _DECIMAL)
    if isinstance(value, date):
        return pa.repeat(pa.scalar(datetime.combine(value, time(), UTC), _TIME), rows)
    if value is None:
        return pa.DictionaryArray.from_arrays(pa.nulls(rows, pa.int32()), pa.array([], pa.string()))
    return pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), pa.array([str(value)]))


def _small(connection: Connection, selection: Selection, schema: Any) -> Any:
    """The rows that are not usage."""
    with connection.cursor() as cursor:
        cursor.execute(small_rows(selection), selection.values)
        names = [column.name for column in cursor.description or ()]
        found = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    fixed = {name: _midnight(value) for name, value in constants(selection).items()}
    arrays = []
    for each in schema:
        values = [(fixed | row).get(each.name) for row in found]
        plain = pa.array(values, pa.string() if each.type == _TEXT else each.type)
        arrays.append(plain.dictionary_encode() if each.type == _TEXT else plain)
    return pa.Table.from_arrays(arrays, schema=schema)


def _midnight(value: object) -> object:
    return datetime.combine(value, time(), UTC) if isinstance(value, date) else value
