"""The process that builds one CSV file: `python -m ipucloud.billing.exports.child_csv`."""

from __future__ import annotations

import io
from collections.abc import Callable

from ipucloud.billing.exports.child import build, serve
from ipucloud.billing.exports.csv_rows import Progress, write_csv
from ipucloud.billing.exports.order import Build
from ipucloud.billing.exports.selection import Connection, Selection


def write(
    connection: Connection,
    selection: Selection,
    progress: Progress,
    sink: io.RawIOBase,
    report: Callable[[], None],
) -> None:
    """As `parquet_rows.write_parquet`, for CSV."""
    percent = 0
    for piece in write_csv(connection, selection, progress):
        sink.write(piece)
        if progress.percent > percent:
            percent = progress.percent
            report()


if __name__ == "__main__":
    serve(Build, lambda order: build(order, write))
