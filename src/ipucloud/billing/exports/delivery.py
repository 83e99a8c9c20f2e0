"""Delivers a file to an S3 bucket: the file with its digest in the name, then its manifest.

A name identifies its bytes, so repeating a delivery is safe; the manifest is last, so a reader of it finds a complete
file. An upload in parts is invisible until completed, and aborted when it fails.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import obstore
import psycopg
from obstore.exceptions import AlreadyExistsError
from obstore.store import S3Store

from ipucloud.billing.exports.order import Deliver
from ipucloud.billing.exports.s3 import PUBLIC, DeliveryError, key_of, reached
from ipucloud.billing.exports.selection import APPLICATION
from ipucloud.db.tenancy import APP_ROLE
from ipucloud.egress.guard import Guard

SMALL = 8 << 20
"""Files up to this size are sent in one request, which is refused if the name exists already."""
_SESSION = f"-c role={APP_ROLE} -c timezone=UTC -c statement_timeout=60s -c default_transaction_read_only=on"
_CHUNK = "SELECT data FROM export_chunks WHERE export_id = %s AND fence = %s AND ordinal = %s"


class _TornError(Exception):
    """Chunks of the file are missing: it must not be delivered."""


def deliver(order: Deliver, guard: Guard = PUBLIC) -> None:
    """Upload the file and its manifest. Raises DeliveryError."""
    try:
        with reached(order.target, guard) as store:
            _deliver(order, store)
    except (_TornError, psycopg.Error) as error:
        raise DeliveryError("The file could not be read; delivery is retried.") from error


def _deliver(order: Deliver, store: S3Store) -> None:
    with psycopg.connect(
        order.database_url,
        options=_SESSION,
        fallback_application_name=APPLICATION,
        autocommit=True,
        connect_timeout=3,
    ) as connection:
        _put(store, key_of(order.target, order.name), _pieces(connection, order), size=order.size)
    manifest = json.dumps(order.manifest, indent=2, ensure_ascii=False).encode() + b"\n"
    name = re.sub(r"\.[a-z]+$", ".manifest.json", order.name)
    _put(store, key_of(order.target, name), iter([manifest]), size=len(manifest))


def _put(store: S3Store, key: str, pieces: Iterator[bytes], *, size: int) -> None:
    if size > SMALL:
        obstore.put(store, key, pieces, use_multipart=True, chunk_size=SMALL)
        return
    content = b"".join(pieces)
    try:
        obstore.put(store, key, content, mode="create", use_multipart=False)
    except AlreadyExistsError:
        return


def _pieces(connection: psycopg.Connection[Any], order: Deliver) -> Iterator[bytes]:
    """The file's chunks. Raises _TornError if it is incomplete, before the last one is sent."""
    sent, ordinal = 0, 0
    while row := connection.execute(_CHUNK, (order.export_id, order.fence, ordinal), binary=True).fetchone():
        yield row[0]
        sent, ordinal = sent + len(row[0]), ordinal + 1
    if sent != order.size:
        raise _TornError
