"""Tests a connection step by step, so that the first thing that is wrong is named."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from uuid import uuid4

import obstore
from obstore.exceptions import PermissionDeniedError, UnauthenticatedError

from ipucloud.billing.exports.order import Target
from ipucloud.billing.exports.s3 import PUBLIC, DeliveryError, failure, key_of, reached
from ipucloud.contract.s3_connections import S3Failure
from ipucloud.egress.guard import ForbiddenAddressError, Guard, any_address
from ipucloud.egress.urls import UrlRefused, endpoint_of

CONNECT_SECONDS = 10.0


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
        if failure(str(error)) in {S3Failure.PERMISSION, S3Failure.SERVICE}:
            raise DeliveryError(f"The access key may not {doing} the bucket.", S3Failure.PERMISSION) from error
        raise


async def _reach(target: Target, guard: Guard) -> None:
    """Resolve the name, connect, and verify the certificate."""
    try:
        endpoint = endpoint_of(target.endpoint, private=target.private_too, ports=target.ports)
    except UrlRefused as error:
        raise DeliveryError(str(error), S3Failure.ADDRESS) from error
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
