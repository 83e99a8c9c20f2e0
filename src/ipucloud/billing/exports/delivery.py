"""Delivers a file to an S3 bucket: the file with its digest in the name, then its manifest.

A name identifies its bytes, so repeating a delivery is safe; the manifest is last, so a reader of it finds a complete
file. An upload in parts is invisible until completed, and aborted when it fails.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import obstore
import psycopg
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import S3Store

from ipucloud.billing.exports.order import Deliver, Target
from ipucloud.billing.exports.selection import APPLICATION
from ipucloud.db.roles import APP_ROLE
from ipucloud.egress.guard import Guard
from ipucloud.egress.proxy import EgressProxy
from ipucloud.egress.urls import UrlRefused, endpoint_of

if TYPE_CHECKING:
    from obstore.store import ClientConfig  # there is none to import when it runs

PUBLIC = Guard()
CALL_SECONDS = 60
SMALL = 8 << 20
"""Files up to this size are sent in one request, which is refused if the name exists already."""
_SESSION = f"-c role={APP_ROLE} -c timezone=UTC -c statement_timeout=60s -c default_transaction_read_only=on"
_CHUNK = "SELECT data FROM export_chunks WHERE export_id = %s AND fence = %s AND ordinal = %s"
_CODE = re.compile(r"<Code>([A-Za-z]{3,60})</Code>")
_STATUS = re.compile(r"\bstatus(?: code)?: ([45][0-9]{2})\b")
_SENTENCES = (
    ("InvalidAccessKeyId", "The bucket's service does not know the access key."),
    ("SignatureDoesNotMatch", "The bucket's service does not accept the secret."),
    ("AccessDenied", "The access key may not write to the bucket."),
    ("NoSuchBucket", "There is no such bucket."),
    ("AuthorizationHeaderMalformed", "The bucket is in another region."),
    ("PermanentRedirect", "The bucket is in another region."),
)


class DeliveryError(Exception):
    """Why a file could not be delivered; contains nothing of the service's response."""


class _TornError(Exception):
    """Chunks of the file are missing: it must not be delivered."""


def deliver(order: Deliver, guard: Guard = PUBLIC) -> None:
    """Upload the file and its manifest. Raises DeliveryError."""
    target = order.target
    try:
        endpoint = endpoint_of(target.endpoint, private=target.private_too, ports=target.ports)
    except UrlRefused as error:
        raise DeliveryError(str(error)) from error
    with nullcontext() if target.private_too else EgressProxy(endpoint.host, endpoint.port, guard) as proxy:
        try:
            _deliver(order, _store(target, proxy))
        except (_TornError, psycopg.Error) as error:
            raise DeliveryError("The file could not be read; delivery is retried.") from error
        except (BaseError, OSError) as error:
            raise DeliveryError((proxy and proxy.refusal) or sentence(str(error))) from error


def _deliver(order: Deliver, store: S3Store) -> None:
    with psycopg.connect(
        order.database_url,
        options=_SESSION,
        fallback_application_name=APPLICATION,
        autocommit=True,
        connect_timeout=3,
    ) as connection:
        _put(store, _key(order.target, order.name), _pieces(connection, order), size=order.size)
    manifest = json.dumps(order.manifest, indent=2, ensure_ascii=False).encode() + b"\n"
    name = re.sub(r"\.[a-z]+$", ".manifest.json", order.name)
    _put(store, _key(order.target, name), iter([manifest]), size=len(manifest))


def _store(target: Target, proxy: EgressProxy | None) -> S3Store:
    options: ClientConfig = {
        "timeout": f"{CALL_SECONDS}s",
        "connect_timeout": "10s",
        "allow_http": target.private_too,
    }
    if proxy is not None:
        options["proxy_url"] = proxy.url
    return S3Store(
        target.bucket,
        endpoint=target.endpoint,
        region=target.region,
        access_key_id=target.access_key_id,
        secret_access_key=target.secret,
        virtual_hosted_style_request=False,
        client_options=options,
        retry_config={"max_retries": 2},
    )


def _key(target: Target, name: str) -> str:
    prefix = target.prefix.strip("/")
    return f"{prefix}/{name}" if prefix else name


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
    given, ordinal = 0, 0
    while row := connection.execute(_CHUNK, (order.export_id, order.fence, ordinal), binary=True).fetchone():
        yield row[0]
        given, ordinal = given + len(row[0]), ordinal + 1
    if given != order.size:
        raise _TornError


def sentence(error: str) -> str:
    """The message for customers about a service's response: a fixed sentence and the status."""
    code = _CODE.search(error)
    for known, sentence in _SENTENCES:
        if (code and code[1] == known) or known in error:
            return sentence
    status = _STATUS.search(error)
    if status:
        return f"The bucket's service refused with status {status[1]}."
    return "The bucket's service did not answer."
