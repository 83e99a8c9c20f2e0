"""The child process of an export: `python -m ipucloud.billing.exports.child TASK`.

It builds one file (`csv`, `parquet`), delivers one (`deliver`) or tests a connection (`try`). A child process keeps
Arrow and the S3 client out of workers' memory, and a large file from blocking a worker; it loads only what its task
needs. It reads one order from standard input, reports progress on standard output, and ends when its standard input
closes: with its worker, however that ended.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar
from uuid import UUID

import psycopg

from ipucloud.billing.exports.csv_rows import Progress, write_csv
from ipucloud.billing.exports.manifest import file_name, manifest_of
from ipucloud.billing.exports.order import CHUNK_BYTES, Build, Deliver, Reply, Try
from ipucloud.billing.exports.selection import APPLICATION, Connection, Selection, snapshot
from ipucloud.db.tenancy import APP_ROLE

Given = TypeVar("Given", Build, Deliver, Try)
Write: TypeAlias = Callable[[Connection, Selection, Progress, io.RawIOBase, Callable[[], None]], None]
"""Writes a file; calls its last argument whenever the progress changes."""

_INSERT = "INSERT INTO export_chunks (export_id, fence, ordinal, data) VALUES (%s, %s, %s, %s)"
_FORGET = "DELETE FROM export_chunks WHERE export_id = %s AND fence = %s"
_SESSION = f"-c role={APP_ROLE} -c timezone=UTC -c statement_timeout=60s -c lock_timeout=5s"


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


def build(order: Build, write: Write) -> Reply:
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
        write(connection, selection, progress, pieces, lambda: send(Reply(progress=progress.percent)))
        pieces.finish()
        sha256 = pieces.digest.hexdigest()
        name = file_name(selection, sha256)
        manifest = manifest_of(connection, selection, rows=progress.rows, size=pieces.size, sha256=sha256, name=name)
    return Reply.model_validate({"manifest": manifest})


def send(reply: Reply) -> None:
    sys.stdout.write(reply.model_dump_json(exclude_defaults=True) + "\n")
    sys.stdout.flush()


def _die_with_the_worker() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def serve(kind: type[Given], carry_out: Callable[[Given], Reply]) -> None:
    """Read the order, execute it, report the result. Never returns; an exception is shown on stderr."""
    order = kind.model_validate_json(sys.stdin.buffer.readline())
    threading.Thread(target=_die_with_the_worker, daemon=True).start()
    try:
        send(carry_out(order))
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn):
        traceback.print_exc()
        send(Reply(lacks_schema=True))
    except BaseException:  # noqa: BLE001  # whatever it is, the process ends with it
        traceback.print_exc()
        os._exit(1)
    os._exit(0)  # the thread that waits for the worker would keep the interpreter alive


def _build_csv(order: Build) -> Reply:
    def write(
        connection: Connection,
        selection: Selection,
        progress: Progress,
        sink: io.RawIOBase,
        report: Callable[[], None],
    ) -> None:
        percent = 0
        for piece in write_csv(connection, selection, progress):
            sink.write(piece)
            if progress.percent > percent:
                percent = progress.percent
                report()

    return build(order, write)


def _build_parquet(order: Build) -> Reply:
    from ipucloud.billing.exports.parquet_rows import write_parquet

    return build(order, write_parquet)


def _deliver(order: Deliver) -> Reply:
    from ipucloud.billing.exports.delivery import deliver
    from ipucloud.billing.exports.s3 import DeliveryError

    try:
        deliver(order)
    except DeliveryError as error:
        return Reply(error=str(error))
    return Reply(delivered=True)


def _try_out(order: Try) -> Reply:
    from ipucloud.billing.exports.s3 import DeliveryError
    from ipucloud.billing.exports.trying import try_out

    try:
        try_out(order.target)
    except DeliveryError as error:
        return Reply(error=str(error), failed=error.failed)
    return Reply(delivered=True)


def main(task: str) -> None:
    """Carry out one task, as `order.Build.task` and its like name them. Never returns."""
    if task == "csv":
        serve(Build, _build_csv)
    elif task == "parquet":
        serve(Build, _build_parquet)
    elif task == "deliver":
        serve(Deliver, _deliver)
    elif task == "try":
        serve(Try, _try_out)
    else:
        raise ValueError(f"an export has no task {task}")


if __name__ == "__main__":
    main(sys.argv[1])
