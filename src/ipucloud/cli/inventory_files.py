"""Expected inventories as files: CSV with a header, or JSON as `ipucloud admin inventory show --json` prints it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ipucloud.client.errors import ApiError, UsageError

COLUMNS = ("kind", "name", "serial", "model", "firmware", "rack", "pod", "slot")
MOST_FAULTS = 20
"""Faults of a file that are named."""


class Row(NamedTuple):
    """A machine or host, and the line of the file where it is; of JSON, its number in the list, from 1."""

    place: int
    item: Mapping[str, object]


class InventoryFile:
    """A file that was read completely. Raises UsageError with a line for each fault."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._word = "item" if path.suffix.lower() == ".json" else "line"
        try:
            text = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError as error:
            raise UsageError(f"{path} is not UTF-8: byte {error.start}.") from None
        rows = [*(self._of_json(text) if self._word == "item" else self._of_csv(text))]
        faults = [f"  {self._word} {row.place}: {fault}" for row in rows if not isinstance(fault := _checked(row), Row)]
        if faults:
            raise self._refused(faults)
        if not rows:
            raise UsageError(f"{path} names no machine or host.")
        self.rows: Sequence[Row] = [checked for row in rows if isinstance(checked := _checked(row), Row)]

    @property
    def items(self) -> list[Mapping[str, object]]:
        return [row.item for row in self.rows]

    def explained(self, error: ApiError) -> UsageError | ApiError:
        """A refusal in terms of the file; the error itself if it is not about the file."""
        faults = []
        for fault in error.errors:
            _, first, *rest = f"{fault.pointer}//".split("/")
            if first != "items" or not rest[0].isdecimal() or int(rest[0]) >= len(self.rows):
                return error
            faults.append(f"  {self._word} {self.rows[int(rest[0])].place}: {rest[1] or 'row'}: {fault.detail}")
        return self._refused(faults) if faults else error

    def _refused(self, faults: Sequence[str]) -> UsageError:
        more = [f"  and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
        return UsageError("\n".join([f"{self.path} was not imported:", *faults[:MOST_FAULTS], *more]))

    def _of_json(self, text: str) -> Iterator[Row]:
        try:
            document = json.loads(text)
        except ValueError as error:
            raise UsageError(f"{self.path} is not JSON: {error}.") from None
        items = document.get("items") if isinstance(document, dict) else document
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise UsageError(f"{self.path}: expected a list of objects, or an object with such a list as `items`.")
        for number, item in enumerate(items, 1):
            yield Row(number, item)

    def _of_csv(self, text: str) -> Iterator[Row]:
        reader = csv.reader(text.splitlines(), strict=True)
        try:
            header = [name.strip().lower() for name in next(reader, [])]
            self._check_header(header)
            for fields in reader:
                values = [each.strip() for each in fields]
                if any(values):
                    padded = values + [""] * (len(header) - len(values))
                    extra = {"": "too many fields"} if len(values) > len(header) else {}
                    yield Row(reader.line_num, dict(zip(header, padded, strict=False)) | extra)
        except csv.Error as error:
            raise UsageError(f"{self.path}, line {reader.line_num}: {error}.") from None

    def _check_header(self, header: Sequence[str]) -> None:
        unknown = [name or "an empty name" for name in header if name not in COLUMNS]
        missing = [name for name in ("kind", "name") if name not in header]
        if unknown or missing or len(set(header)) != len(header):
            raise UsageError(
                f"{self.path}, line 1: the header must name columns once, kind and name among them, of: "
                f"{', '.join(COLUMNS)}." + (f" It has {', '.join(unknown)}." if unknown else "")
            )


def _checked(row: Row) -> Row | str:
    """The row with what is given, and its slot as a number; or what is wrong with it."""
    item = {name: value for name, value in row.item.items() if value is not None and value != ""}
    if "" in row.item:
        return "it has more fields than the header."
    for name in item:
        if name not in COLUMNS:
            return f"{name} is not one of {', '.join(COLUMNS)}."
    slot = item.get("slot")
    if isinstance(slot, str):
        if not (slot.isascii() and slot.isdecimal()):
            return f"slot: {slot!r} is not a number from 0 to 15."
        item["slot"] = int(slot)
    if item.get("kind") not in ("machine", "host"):
        return f"kind: {item.get('kind', '')!r} is neither machine nor host."
    return Row(row.place, item) if item.get("name") else "name: it is empty."
