"""The process that makes or delivers one file: `python -m ipucloud.billing.exports.child`.

A process of its own keeps Arrow and the S3 client out of workers' memory, and a large file from holding up everything
else a worker does. It takes one `Order` on standard input, says how far it is on standard output, and dies when its
standard input ends: with its worker, however that ended.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import threading
from typing import Any
from uuid import UUID

import psycopg
from pydantic import TypeAdapter

from ipucloud.billing.exports.csv_rows import Progress, write_csv
from ipucloud.billing.exports.datasets import FileFormat
from ipucloud.billing.exports.delivery import DeliveryError, deliver
from ipucloud.billing.exports.manifest import Manifest, file_name, manifest_of
from ipucloud.billing.exports.order import CHUNK_BYTES, Build, Deliver, Order, Said
from ipucloud.billing.exports.parquet_rows import write_parquet
from ipucloud.billing.exports.selection import Selection, snapshot
from ipucloud.db.roles import APP_ROLE

_INSERT = "INSERT INTO export_chunks (export_id, fence, ordinal, data) VALUES (%s, %s, %s, %s)"
_FORGET = "DELETE FROM export_chunks WHERE export_id = %s AND fence = %s"
_SESSION = f"-c role={APP_ROLE} -c timezone=UTC -c statement_timeout=60s -c lock_timeout=5s"


class Pieces(io.RawIOBase):
    """A file that is kept in the database as it is written, a piece at a time, each in a transaction of its own."""

    def __init__(self, connection: psycopg.Connection[Any], export_id: UUID, fence: int) -> None:
        super().__init__()
        self._connection, self._key = connection, (export_id, fence)
        self._held = bytearray()
        self._ordinal = 0
        self.digest = hashlib.sha256()
        self.size = 0
        connection.execute(_FORGET, self._key)

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = memoryview(data)
        self.digest.update(piece)
        self.size += piece.nbytes
        self._held += piece
        while len(self._held) >= CHUNK_BYTES:
            self._keep(bytes(self._held[:CHUNK_BYTES]))
            del self._held[:CHUNK_BYTES]
        return piece.nbytes

    def finish(self) -> None:
        if self._held or self._ordinal == 0:
            self._keep(bytes(self._held))
            self._held.clear()

    def _keep(self, data: bytes) -> None:
        self._connection.execute(_INSERT, (*self._key, self._ordinal, data), binary=True)
        self._ordinal += 1


def build(order: Build) -> Manifest:
    """Write the file from one snapshot, and keep it. Raises psycopg.Error."""
    selection, progress = order.subject.selection(), Progress()
    with (
        psycopg.connect(order.database_url, options=_SESSION, autocommit=True, connect_timeout=3) as keeping,
        snapshot(order.database_url) as connection,
    ):
        pieces = Pieces(keeping, order.export_id, order.fence)
        if selection.format is FileFormat.PARQUET:
            write_parquet(connection, selection, progress, pieces, lambda: _tell(progress))
        else:
            _write_csv(connection, selection, progress, pieces)
        pieces.finish()
        sha256 = pieces.digest.hexdigest()
        name = file_name(selection, sha256)
        return manifest_of(connection, selection, rows=progress.rows, size=pieces.size, sha256=sha256, name=name)


def _write_csv(connection: psycopg.Connection[Any], selection: Selection, progress: Progress, pieces: Pieces) -> None:
    done = 0
    for piece in write_csv(connection, selection, progress):
        pieces.write(piece)
        if progress.done > done:
            done = progress.done
            _tell(progress)


def _tell(progress: Progress) -> None:
    say(Said(progress=progress.done * 100 // progress.of))


def say(said: Said) -> None:
    sys.stdout.write(said.model_dump_json(exclude_defaults=True) + "\n")
    sys.stdout.flush()


def _die_with_the_worker() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def main() -> None:
    """Exits 0 when it could say how it ended."""
    order: Build | Deliver = TypeAdapter(Order).validate_json(sys.stdin.buffer.readline())
    threading.Thread(target=_die_with_the_worker, daemon=True).start()
    say(_carry_out(order))
    os._exit(0)  # the thread that waits for the worker's end would keep the interpreter from ending


def _carry_out(order: Build | Deliver) -> Said:
    if isinstance(order, Build):
        return Said.model_validate({"manifest": build(order)})
    try:
        deliver(order)
    except DeliveryError as error:
        return Said(error=str(error))
    return Said(delivered=True)


if __name__ == "__main__":
    main()
