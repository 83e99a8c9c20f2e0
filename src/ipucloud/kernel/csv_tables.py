"""CSV tables (RFC 4180) in which spreadsheets find no formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Without it, spreadsheets read a file as of the machine's own encoding instead of UTF-8."""
FORMULA_STARTS = "=+-@\t\r\x00\uff1d\uff0b\uff0d\uff20"  # the last four: = + - @ in full width
"""First characters that make a spreadsheet evaluate a cell, or that it skips before doing so (OWASP, CSV injection)."""


def text_cell(text: str) -> str:
    """The text, prefixed with an apostrophe if a spreadsheet would evaluate it."""
    return f"'{text}" if text.startswith(tuple(FORMULA_STARTS)) else text


def write_csv(header: Sequence[str], rows: Iterable[Sequence[str | None]]) -> bytes:
    """UTF-8 with CRLF line ends. A cell is safe text (see `text_cell`), or None: empty."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return out.getvalue().encode()
