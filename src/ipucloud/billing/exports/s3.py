"""S3 buckets: delivers a file, or tests a connection step by step, so that the first thing that is wrong is named.

A file's name has its digest and identifies its bytes, so repeating a delivery is safe; the manifest is last, so a
reader of it finds a complete file. An upload in parts is invisible until completed, and aborted when it fails.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import obstore
import psycopg
from obstore.exceptions import AlreadyExistsError, BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from ipucloud.billing.exports.process import Deliver, Target
from ipucloud.billing.exports.selection import APPLICATION
from ipucloud.contract.s3_connections import S3Failure
from ipucloud.db.tenancy import APP_ROLE
from ipucloud.egress.guard import ForbiddenAddressError, Guard, any_address
from ipucloud.egress.proxy import EgressProxy
from ipucloud.egress.urls import Target as Endpoint
from ipucloud.egress.urls import UrlRefused, endpoint_of

if TYPE_CHECKING:
    from obstore.store import ClientConfig  # there is none to import when it runs

PUBLIC = Guard()
CALL_SECONDS = 60
_CODE = re.compile(r"<Code>([A-Za-z]{3,60})</Code>")
_STATUS = re.compile(r"\bstatus(?: code)?: ([45][0-9]{2})\b")
_SENTENCES = (
    ("InvalidAccessKeyId", S3Failure.CREDENTIALS, "The bucket's service does not know the access key."),
    ("SignatureDoesNotMatch", S3Failure.CREDENTIALS, "The bucket's service does not accept the secret."),
    ("AccessDenied", S3Failure.PERMISSION, "The access key may not write to the bucket."),
    ("NoSuchBucket", S3Failure.BUCKET, "There is no such bucket."),
    ("AuthorizationHeaderMalformed", S3Failure.REGION, "The bucket is in another region."),
    ("PermanentRedirect", S3Failure.REGION, "The bucket is in another region."),
)
CONNECT_SECONDS = 10.0
SMALL = 8 << 20
"""Files up to this size are sent in one request, which is refused if the name exists already."""
_SESSION = f"-c role={APP_ROLE} -c timezone=UTC -c statement_timeout=60s -c default_transaction_read_only=on"
_CHUNK = "SELECT data FROM export_chunks WHERE export_id = %s AND fence = %s AND ordinal = %s"


class DeliveryError(Exception):
    """Why a bucket could not be used; contains nothing of the service's response."""

    def __init__(self, sentence: str, failed: S3Failure = S3Failure.SERVICE) -> None:
        super().__init__(sentence)
        self.failed = failed


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


def try_out(target: Target, guard: Guard = PUBLIC) -> None:
    """Reach the endpoint, list the bucket, write an object and delete it. Raises DeliveryError."""
    asyncio.run(_reach(target, guard))
    with reached(target, guard) as store:
        key = key_of(target, f"ipucloud-test-{uuid4()}")
        _step("list", lambda: next(store.list(target.prefix or None, chunk_size=1)))
        _step("write to", lambda: obstore.put(store, key, b"", use_multipart=False))
        _step("delete from", lambda: obstore.delete(store, key))


def _step(doing: str, act: Callable[[], object]) -> None:
    """Raises DeliveryError for a permission that is missing; what else is wrong is the same for every step."""
    try:
        act()
    except StopIteration:
        return  # the bucket is empty
    except (PermissionDeniedError, UnauthenticatedError) as error:
        if refused(str(error)).failed in {S3Failure.PERMISSION, S3Failure.SERVICE}:
            raise DeliveryError(f"The access key may not {doing} the bucket.", S3Failure.PERMISSION) from error
        raise


async def _reach(target: Target, guard: Guard) -> None:
    """Resolve the name, connect, and verify the certificate."""
    endpoint = _endpoint(target)
    allowed = Guard(any_address, guard.resolve) if target.private_too else guard
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            _, writer = await allowed.connect(
                endpoint.host, endpoint.port, lambda address: asyncio.open_connection(address, endpoint.port)
            )
            try:
                # By the address that was connected to, as a delivery does: another one's answer would hide the fault.
                if endpoint.scheme == "https":
                    await writer.start_tls(ssl.create_default_context(), server_hostname=endpoint.host)
            finally:
                writer.close()
    except ForbiddenAddressError as error:
        raise DeliveryError("The endpoint's address is not public.", S3Failure.ADDRESS) from error
    except socket.gaierror as error:
        raise DeliveryError("The endpoint's name cannot be resolved.", S3Failure.NAME) from error
    except ssl.SSLCertVerificationError as error:
        raise DeliveryError("The endpoint's TLS certificate is not valid for it.", S3Failure.TLS) from error
    except ssl.SSLError as error:
        raise DeliveryError("The endpoint does not speak TLS.", S3Failure.TLS) from error
    except (OSError, TimeoutError) as error:
        raise DeliveryError("No connection to the endpoint is possible.", S3Failure.CONNECTION) from error


@contextmanager
def reached(target: Target, guard: Guard = PUBLIC) -> Iterator[S3Store]:
    """A store for the bucket. Raises DeliveryError, also for errors of the store inside."""
    endpoint = _endpoint(target)
    with nullcontext() if target.private_too else EgressProxy(endpoint.host, endpoint.port, guard) as proxy:
        try:
            yield _store(target, proxy)
        except (BaseError, OSError) as error:
            if proxy and proxy.refusal:
                raise DeliveryError(proxy.refusal, S3Failure.ADDRESS) from error
            raise refused(str(error)) from error


def _endpoint(target: Target) -> Endpoint:
    try:
        return endpoint_of(target.endpoint, private=target.private_too, ports=target.ports)
    except UrlRefused as error:
        raise DeliveryError(str(error), S3Failure.ADDRESS) from error


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


def key_of(target: Target, name: str) -> str:
    prefix = target.prefix.strip("/")
    return f"{prefix}/{name}" if prefix else name


def refused(error: str) -> DeliveryError:
    """What a service's response means: a fixed sentence for customers, with the status."""
    code = _CODE.search(error)
    for known, failed, meaning in _SENTENCES:
        if (code and code[1] == known) or known in error:
            return DeliveryError(meaning, failed)
    status = _STATUS.search(error)
    if status:
        return DeliveryError(f"The bucket's service refused with status {status[1]}.")
    return DeliveryError("The bucket's service did not answer.")
