"""One export in a process of its own: `python -m bench.processes.exporter {csv,parquet,copy} URL MONTH PROJECT`.

Answers with one JSON line: the rows, the bytes, the seconds, and the most memory the process ever had, in MB.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import time
from datetime import date
from uuid import UUID

import psycopg

from bench.child import peak_memory
from ipucloud.billing.exports.csv_rows import Progress, write_csv
from ipucloud.billing.exports.parquet_rows import write_parquet
from ipucloud.billing.exports.selection import Selection, month_of, snapshot
from ipucloud.contract.exports import Dataset, FileFormat, FocusVersion

_RAW = "COPY (SELECT * FROM usage_charges WHERE billing_month = %s) TO STDOUT (FORMAT csv)"


class Sink(io.RawIOBase):
    """Counts and digests what it is given, and keeps nothing, as an upload does."""

    def __init__(self) -> None:
        super().__init__()
        self.digest = hashlib.sha256()
        self.bytes = 0

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = memoryview(data)  # type: ignore[arg-type]  # whatever Arrow or COPY gives
        self.digest.update(piece)
        self.bytes += piece.nbytes
        return piece.nbytes


def main(kind: str, url: str, month: str, project: str) -> None:
    sink, progress = Sink(), Progress()
    started = time.perf_counter()
    if kind == "copy":
        with psycopg.connect(url) as connection, psycopg.ClientCursor(connection) as cursor:
            with cursor.copy(_RAW, [month]) as copied:
                for piece in copied:
                    sink.write(piece)
            progress.rows = cursor.rowcount
    else:
        chosen = Selection(
            Dataset.COST_AND_USAGE,
            FocusVersion.V1_4,
            FileFormat(kind),
            month_of(date.fromisoformat(month)),
            UUID(project),
            None,
            "IPU Cloud",
            {"luxembourg-2": "Luxembourg-2"},
        )
        with snapshot(url) as connection:
            if chosen.format is FileFormat.CSV:
                for piece in write_csv(connection, chosen, progress):
                    sink.write(piece)
            else:
                write_parquet(connection, chosen, progress, sink)
    seconds = time.perf_counter() - started
    print(json.dumps({"rows": progress.rows, "bytes": sink.bytes, "seconds": seconds, "memory": peak_memory()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
