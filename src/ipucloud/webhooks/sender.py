"""Sends one message to a customer's endpoint, over a guarded connection.

No redirects, no proxies, no cookies.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import httpcore
import httpx

from ipucloud.contract.webhooks import Failure
from ipucloud.egress.guard import ForbiddenAddressError, Guard, Resolve, any_address, is_public, system_resolver
from ipucloud.egress.network import GuardedNetwork
from ipucloud.egress.urls import Target, UrlRefused, target_of

SECONDS = 15.0
"""For the whole exchange: name, connection, request and response."""

MAX_BYTES = 64 * 1024
"""Bytes read of a response's body."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of an attempt: `failure` None is a success. `status` None: no response.

    `retry_after`: the header of a busy endpoint.
    """

    failure: Failure | None
    status: int | None = None
    retry_after: str | None = None


class Sender:
    """Posts messages, each over its own connection. `seconds`: for one exchange."""

    def __init__(self, *, private: bool, seconds: float = SECONDS, resolve: Resolve = system_resolver) -> None:
        self._private = private
        self._seconds = seconds
        self._network = GuardedNetwork(Guard(any_address if private else is_public, resolve))

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return httpx.create_ssl_context(trust_env=False)

    async def send(self, url: str, body: bytes, headers: Mapping[str, str]) -> Sent:
        """One attempt. Errors are part of the result."""
        try:
            target = target_of(url, private=self._private)
            async with asyncio.timeout(self._seconds):
                return await self._post(target, body, headers)
        except TimeoutError:
            return Sent(Failure.TIMEOUT)
        except (UrlRefused, ForbiddenAddressError):
            return Sent(Failure.REFUSED_ADDRESS)
        except httpcore.ConnectError as error:
            return Sent(Failure.TLS if _tls_failed(error) else Failure.UNREACHABLE)
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError):
            return Sent(Failure.UNREACHABLE)

    async def _post(self, target: Target, body: bytes, headers: Mapping[str, str]) -> Sent:
        """The response; the body is read only as far as needed to close the connection cleanly."""
        url = httpcore.URL(
            scheme=target.scheme.encode(), host=target.host.encode(), port=target.port, target=target.path.encode()
        )
        sent_headers = [("Host", target.authority), ("Content-Length", str(len(body))), *headers.items()]
        async with (
            httpcore.AsyncConnectionPool(
                ssl_context=self._tls if target.scheme == "https" else None,
                max_keepalive_connections=0,
                network_backend=self._network,
            ) as pool,
            pool.stream("POST", url, headers=sent_headers, content=body) as response,
        ):
            remaining = MAX_BYTES
            async for chunk in response.aiter_stream():
                remaining -= len(chunk)
                if remaining <= 0:
                    break
            return judged(response.status, httpx.Headers(response.headers).get("retry-after"))


def _tls_failed(error: BaseException | None) -> bool:
    """Whether the connection succeeded but TLS failed: the libraries show it only in an exception's causes."""
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False


def judged(status: int, retry_after: str | None = None) -> Sent:
    """2xx is a success; a redirect is a failure, because its target is not checked.

    `Retry-After` counts only for 429 and 503 (RFC 9110, 10.2.3, and RFC 6585, 4).
    """
    if 200 <= status < 300:
        return Sent(None, status)
    if status == httpx.codes.GONE:
        return Sent(Failure.GONE, status)
    if status in {httpx.codes.TOO_MANY_REQUESTS, httpx.codes.SERVICE_UNAVAILABLE}:
        return Sent(Failure.STATUS, status, retry_after)
    return Sent(Failure.REDIRECT if 300 <= status < 400 else Failure.STATUS, status)
