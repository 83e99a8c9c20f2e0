"""The child process of an export: builds a file, delivers one or tests a connection, as `process` orders.

It loads only what its order needs, and ends when its standard input closes: with its worker, however that ended.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import threading
import traceback
from typing import Any
from uuid import UUID

import psycopg
from pydantic import ConfigDict, TypeAdapter

from ipucloud.billing.exports.csv_rows import Progress, write_csv
from ipucloud.billing.exports.manifest import file_name, manifest_of
from ipucloud.billing.exports.process import CHUNK_BYTES, Build, Deliver, Order, Reply, Try
from ipucloud.billing.exports.selection import APPLICATION, Connection, snapshot
from ipucloud.contract.exports import FileFormat
from ipucloud.db.tenancy import APP_ROLE

_INSERT = "INSERT INTO export_chunks (export_id, fence, ordinal, data) VALUES (%s, %s, %s, %s)"
_FORGET = "DELETE FROM export_chunks WHERE export_id = %s AND fence = %s"
_SESSION = f"-c role={APP_ROLE} -c timezone=UTC -c statement_timeout=60s -c lock_timeout=5s"
_ORDER: TypeAdapter[Order] = TypeAdapter(Order, config=ConfigDict(hide_input_in_errors=True))


class Pieces(io.RawIOBase):
    """A file written to the database in chunks, each in its own transaction."""

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


def build(order: Build) -> Reply:
    """Write the file from one snapshot to the database. Raises psycopg.Error."""
    selection, progress = order.subject, Progress()
    with (
        psycopg.connect(
            order.database_url,
            options=_SESSION,
            fallback_application_name=APPLICATION,
            autocommit=True,
            connect_timeout=3,
        ) as keeping,
        snapshot(order.database_url) as connection,
    ):
        pieces = Pieces(keeping, order.export_id, order.fence)
        _write(connection, order, progress, pieces)
        pieces.finish()
        sha256 = pieces.digest.hexdigest()
        name = file_name(selection, sha256)
        manifest = manifest_of(connection, selection, rows=progress.rows, size=pieces.size, sha256=sha256, name=name)
    return Reply.model_validate({"manifest": manifest})


def _write(connection: Connection, order: Build, progress: Progress, sink: Pieces) -> None:
    def report() -> None:
        send(Reply(progress=progress.percent))

    if order.subject.format is FileFormat.PARQUET:
        from ipucloud.billing.exports.parquet_rows import write_parquet

        write_parquet(connection, order.subject, progress, sink, report)
        return
    percent = 0
    for piece in write_csv(connection, order.subject, progress):
        sink.write(piece)
        if progress.percent > percent:
            percent = progress.percent
            report()


def reach(order: Deliver | Try) -> Reply:
    """Deliver a file to a bucket, or test the connection."""
    from ipucloud.billing.exports.s3 import DeliveryError, deliver, try_out

    try:
        if isinstance(order, Deliver):
            deliver(order)
        else:
            try_out(order.target)
    except DeliveryError as error:
        return Reply(error=str(error), failed=error.failed)
    return Reply(delivered=True)


def send(reply: Reply) -> None:
    sys.stdout.write(reply.model_dump_json(exclude_defaults=True) + "\n")
    sys.stdout.flush()


def _die_with_the_worker() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def main() -> None:
    """Read the order, carry it out, report the result. Never returns; an exception is shown on stderr."""
    order = _ORDER.validate_json(sys.stdin.buffer.readline())
    threading.Thread(target=_die_with_the_worker, daemon=True).start()
    try:
        send(build(order) if isinstance(order, Build) else reach(order))
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn):
        traceback.print_exc()
        send(Reply(lacks_schema=True))
    except BaseException:  # noqa: BLE001  # whatever it is, the process ends with it
        traceback.print_exc()
        os._exit(1)
    os._exit(0)  # the thread that waits for the worker would keep the interpreter alive


if __name__ == "__main__":
    main()
