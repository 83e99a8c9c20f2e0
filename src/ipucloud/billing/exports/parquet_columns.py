"""A batch of charges as an Arrow table with all columns of a dataset, from the rows' own values.

Nothing is done row by row: a column is computed as a whole, taken from the series, or a constant. Importing this module
loads Arrow, about 60 MB, so workers do not.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from ipucloud.billing.exports.datasets import Column, Kind, Source
from ipucloud.billing.exports.invoiced import constants
from ipucloud.billing.exports.selection import Selection

DECIMAL = pa.decimal128(38, 10)
TEXT = pa.dictionary(pa.int32(), pa.string())
LONG = frozenset({"x_ChargeId"})
"""Texts of which each row has its own: a dictionary would only cost."""
NARROW = {
    "no": (pa.int32(), "s.no"),
    "minutes": (pa.int32(), "c.minutes"),
    "started": (pa.int32(), "date_part('epoch', c.started_at - c.hour)::integer"),
    "ended": (pa.int32(), "date_part('epoch', c.ended_at - c.hour)::integer"),
    "first_minute": (pa.int32(), "c.first_minute"),
    "rev": (pa.int32(), "c.rev"),
}
"""A row's own values besides its hour, with their SQL; times are in seconds from the hour."""
BATCH_BYTES = 4 << 20
"""Of narrow rows: about 190,000, which are a row group."""

Codes: TypeAlias = tuple[int | None, ...]
_TIME = pa.timestamp("us", tz="UTC")
_COUNT = pa.decimal128(10, 0)
_PRICE = pa.decimal128(20, 10)
"""As the database has prices; a count times a price is exact, and no wider than a `DECIMAL`."""
_MAX_MINUTES = 1 << 20


@dataclass
class Batch:
    """Narrow rows as lines of text, and the hours they are of: when each begins, and where its rows end."""

    lines: io.BytesIO = field(default_factory=io.BytesIO)
    hours: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def add(self, hour: int, rows: int, lines: bytes) -> None:
        """`hour` in seconds of the epoch."""
        self.lines.write(lines)
        self.hours.append(hour)
        self.ends.append(rows + (self.ends[-1] if self.ends else 0))

    @property
    def full(self) -> bool:
        return self.lines.tell() >= BATCH_BYTES

    def read(self) -> dict[str, Any]:
        """The columns of `NARROW`."""
        self.lines.seek(0)
        table = pa_csv.read_csv(
            self.lines,
            read_options=pa_csv.ReadOptions(column_names=list(NARROW), block_size=BATCH_BYTES * 4),
            convert_options=pa_csv.ConvertOptions(column_types={name: kind for name, (kind, _) in NARROW.items()}),
        )
        return {name: table[name].combine_chunks() for name in NARROW}

    def per_row(self, of_hours: Sequence[Any], kind: Any) -> Any:
        """For each row the value of its hour."""
        runs = pa.RunEndEncodedArray.from_arrays(pa.array(self.ends, pa.int32()), pa.array(of_hours, kind))
        return pc.run_end_decode(runs)


class Chosen:
    """Series by their places. Columns that tell series apart alike share their codes."""

    def __init__(self, values: Mapping[str, Sequence[Any]]) -> None:
        self.values = values
        self.at_list_price = all(values["at_list_price"])
        self._arrays: dict[tuple[str, Any], Any] = {}
        self._columns: dict[str, tuple[Codes, Any]] = {}

    def array(self, name: str, kind: Any) -> Any:
        """A value for each series."""
        if (name, kind) not in self._arrays:
            self._arrays[name, kind] = pa.array(self.values[name], kind)
        return self._arrays[name, kind]

    def coded(self, name: str) -> tuple[Codes, Any]:
        """A text for each series: their codes, and the distinct texts that the codes stand for."""
        if name not in self._columns:
            self._columns[name] = _coded(self.values[name])
        return self._columns[name]


class Placed:
    """The series of the rows of a batch: `place` says for each row which of the chosen it is of."""

    def __init__(self, place: Any, chosen: Chosen) -> None:
        self.place = place
        self.chosen = chosen
        self._picked: dict[Codes, Any] = {}

    def values(self, name: str, kind: Any) -> Any:
        """A value of the series for each row."""
        return pc.take(self.chosen.array(name, kind), self.place, boundscheck=False)

    def column(self, column: Column) -> Any:
        if column.kind is Kind.DECIMAL:
            return self.values(column.name, DECIMAL)
        codes, texts = self.chosen.coded(column.name)
        if codes not in self._picked:
            self._picked[codes] = pc.take(pa.array(codes, pa.int32()), self.place, boundscheck=False)
        return pa.DictionaryArray.from_arrays(self._picked[codes], texts, safe=False)


def type_of(column: Column) -> Any:
    if column.kind is Kind.DECIMAL:
        return DECIMAL
    if column.kind is Kind.TIME:
        return _TIME
    return pa.string() if column.name in LONG else TEXT


def table_of(selection: Selection, schema: Any, batch: Batch, narrow: Mapping[str, Any], placed: Placed) -> Any:
    """`narrow`: from `batch.read`; `placed`: the series of its rows."""
    rows = _of_rows(batch, narrow, placed)
    fixed, same = constants(selection), _Same(batch.ends[-1])
    arrays = []
    for column in selection.columns:
        if column.source is Source.ROW:
            arrays.append(rows[column.name])
        elif column.source is Source.SERIES:
            arrays.append(placed.column(column))
        else:
            arrays.append(same.column(column, fixed.get(column.name)))
    return pa.Table.from_arrays(arrays, schema=schema)


def _of_rows(batch: Batch, narrow: Mapping[str, Any], placed: Placed) -> dict[str, Any]:
    """The columns that differ from row to row. A charge costs minutes times machines times price, as in the ledger."""
    minutes = narrow["minutes"]
    machine_minutes = pc.multiply_checked(minutes, placed.values("quantity", pa.int32()))
    cost = _cost(machine_minutes, placed.values("ContractedUnitPrice", _PRICE))
    at_list_price = placed.chosen.at_list_price
    hours = batch.per_row([hour * 1_000_000 for hour in batch.hours], pa.int64())
    return {
        "BilledCost": cost,
        "ChargeDescription": _descriptions(minutes, placed),
        "ChargePeriodEnd": _instants(hours, narrow["ended"]),
        "ChargePeriodStart": _instants(hours, narrow["started"]),
        "ConsumedQuantity": pc.multiply_checked(machine_minutes, placed.values("ipus", pa.int32())).cast(DECIMAL),
        "ContractedCost": cost,
        "EffectiveCost": cost,
        "ListCost": cost if at_list_price else _cost(machine_minutes, placed.values("ListUnitPrice", _PRICE)),
        "PricingCurrencyEffectiveCost": cost,
        "PricingQuantity": machine_minutes.cast(DECIMAL),
        "x_ChargeId": pc.binary_join_element_wise(
            batch.per_row([f"{datetime.fromtimestamp(hour, UTC):%Y%m%dT%H}" for hour in batch.hours], pa.string()),
            placed.values("resource", pa.string()),
            narrow["first_minute"].cast(pa.string()),
            narrow["rev"].cast(pa.string()),
            "-",
        ),
        "x_Revision": narrow["rev"].cast(DECIMAL),
    }


def _cost(machine_minutes: Any, price: Any) -> Any:
    return pc.multiply(machine_minutes.cast(_COUNT), price).cast(DECIMAL)


def _instants(hours: Any, seconds: Any) -> Any:
    return pc.add(hours, pc.multiply(seconds.cast(pa.int64()), 1_000_000)).cast(_TIME)


def _descriptions(minutes: Any, placed: Placed) -> Any:
    """`ipu-m2000 x4, 60 min`: as many different ones as there are series and numbers of minutes."""
    shifted = pc.add(minutes.cast(pa.int64()), _MAX_MINUTES)
    pairs = pc.add(pc.multiply(placed.place.cast(pa.int64()), 2 * _MAX_MINUTES), shifted).dictionary_encode()
    begins = placed.chosen.values["description"]
    descriptions = [
        f"{begins[pair // (2 * _MAX_MINUTES)]}{pair % (2 * _MAX_MINUTES) - _MAX_MINUTES} min"
        for pair in pairs.dictionary.to_pylist()
    ]
    codes, texts = _coded(descriptions)
    picked = pc.take(pa.array(codes, pa.int32()), pairs.indices, boundscheck=False)
    return pa.DictionaryArray.from_arrays(picked, texts, safe=False)


def _coded(values: Sequence[str | None]) -> tuple[Codes, Any]:
    """Texts as codes, null for null; equal ones have one, in the order in which they come."""
    distinct = {value: code for code, value in enumerate(dict.fromkeys(value for value in values if value is not None))}
    return tuple(None if value is None else distinct[value] for value in values), pa.array(distinct, pa.string())


class _Same:
    """Columns of one value in every row."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._first = pa.repeat(pa.scalar(0, pa.int32()), rows)
        self._none = pa.nulls(rows, pa.int32())

    def column(self, column: Column, value: object) -> Any:
        if column.kind is Kind.DECIMAL:
            return pa.nulls(self._rows, DECIMAL)
        if isinstance(value, date):
            return pa.repeat(pa.scalar(datetime.combine(value, time(), UTC), _TIME), self._rows)
        codes, texts = (self._none, []) if value is None else (self._first, [str(value)])
        return pa.DictionaryArray.from_arrays(codes, pa.array(texts, pa.string()), safe=False)
