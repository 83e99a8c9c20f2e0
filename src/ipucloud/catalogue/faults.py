"""Faults of a catalogue, with their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_SHOWN_AT_ONCE = 5


@dataclass(frozen=True, slots=True)
class Fault:
    """One sentence about one place: a file, a row in it, a field in that. `row` and `field` are None for the whole."""

    file: str
    row: str | None
    field: str | None
    detail: str

    def __str__(self) -> str:
        place = f"{self.file}.toml" if self.row is None else f"{self.file}.toml, row {self.row}"
        return f"{place}: {self.detail}" if self.field is None else f"{place}: {self.field}: {self.detail}"


class CatalogueError(ValueError):
    """The data files cannot be used. `faults` has all faults, at least one; the message names the first ones."""

    def __init__(self, origin: str, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        reported = "; ".join(map(str, self.faults[:_SHOWN_AT_ONCE]))
        more = len(self.faults) - _SHOWN_AT_ONCE
        rest = f"; and {more} more, which `ipucloud catalogue check` lists" if more > 0 else ""
        super().__init__(f"The catalogue in {origin} is not valid. {reported}{rest}")
