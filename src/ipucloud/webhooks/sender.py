"""Sending one message to an address that customers chose: checked when it is connected to, whatever its name says.

The name is resolved here, every address that it has must be public, and the connection goes to one of those that were
checked: between check and connection nobody can answer otherwise. No redirects, no proxies, no cookies.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import httpcore
import httpx

from ipucloud.contract.webhooks import Failure
from ipucloud.kernel.addresses import is_public, parse
from ipucloud.kernel.names import Resolve, resolve
from ipucloud.webhooks.urls import Target, UrlRefused, target_of

SECONDS = 15.0
"""For the whole exchange: name, connection, request and answer."""

MOST_BYTES = 64 * 1024
"""Of an answer's body; the rest is not read."""


@dataclass(frozen=True, slots=True)
class Sent:
    """How a try ended: `failure` None is a success. `status` None: there was no answer.

    `retry_after`: what a busy end-point asked for, as its header has it.
    """

    failure: Failure | None
    status: int | None = None
    retry_after: str | None = None


class AddressRefused(httpcore.ConnectError):
    """The name leads to an address that is not public, or to none."""


class CheckedNetwork(httpcore.AsyncNetworkBackend):
    """Connects to public addresses only; with `private` to any."""

    def __init__(self, *, private: bool, resolve: Resolve = resolve) -> None:
        self._private = private
        self._resolve = resolve
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  # the protocol's own
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Raises AddressRefused, and what a connection raises."""
        address = await self._address(host, port)
        return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)

    async def _address(self, host: str, port: int) -> str:
        try:
            found = await self._resolve(host, port)
        except OSError as error:
            raise httpcore.ConnectError("the name leads nowhere") from error
        if not found or not (self._private or all(map(_public, found))):
            raise AddressRefused("the name leads to an address that is not public")
        return found[0]

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109  # the protocol's own
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise AddressRefused("a socket of this machine is no end-point")

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


def _public(text: str) -> bool:
    address = parse(text)
    return address is not None and is_public(address)


class Sender:
    """Posts messages, each over a connection of its own. `seconds`: for one exchange."""

    def __init__(self, *, private: bool, seconds: float = SECONDS, resolve: Resolve = resolve) -> None:
        self._private = private
        self._seconds = seconds
        self._network = CheckedNetwork(private=private, resolve=resolve)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return httpx.create_ssl_context(trust_env=False)

    async def send(self, url: str, body: bytes, headers: Mapping[str, str]) -> Sent:
        """One try. Whatever goes wrong is part of the answer."""
        try:
            target = target_of(url, private=self._private)
            async with asyncio.timeout(self._seconds):
                return await self._post(target, body, headers)
        except TimeoutError:
            return Sent(Failure.TIMEOUT)
        except (UrlRefused, AddressRefused):
            return Sent(Failure.REFUSED_ADDRESS)
        except httpcore.ConnectError as error:
            return Sent(Failure.TLS if _tls_failed(error) else Failure.UNREACHABLE)
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError):
            return Sent(Failure.UNREACHABLE)

    async def _post(self, target: Target, body: bytes, headers: Mapping[str, str]) -> Sent:
        """The answer; of the body only so much is read as a connection has to be left tidy."""
        url = httpcore.URL(
            scheme=target.scheme.encode(), host=target.host.encode(), port=target.port, target=target.path.encode()
        )
        given = [("Host", target.authority), ("Content-Length", str(len(body))), *headers.items()]
        async with (
            httpcore.AsyncConnectionPool(
                ssl_context=self._tls if target.scheme == "https" else None,
                max_keepalive_connections=0,
                network_backend=self._network,
            ) as pool,
            pool.stream("POST", url, headers=given, content=body) as response,
        ):
            left = MOST_BYTES
            async for chunk in response.aiter_stream():
                left -= len(chunk)
                if left <= 0:
                    break
            return judged(response.status, httpx.Headers(response.headers).get("retry-after"))


def _tls_failed(error: BaseException | None) -> bool:
    """Whether the connection was there, and no TLS over it: the libraries between tell it only by their causes."""
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False


def judged(status: int, retry_after: str | None = None) -> Sent:
    """2xx is a success; a redirect is none, because nobody checked where it leads.

    Who is busy says when to come again (RFC 9110, 10.2.3, and RFC 6585, 4); of others the header means nothing here.
    """
    if 200 <= status < 300:
        return Sent(None, status)
    if status == httpx.codes.GONE:
        return Sent(Failure.GONE, status)
    if status in {httpx.codes.TOO_MANY_REQUESTS, httpx.codes.SERVICE_UNAVAILABLE}:
        return Sent(Failure.STATUS, status, retry_after)
    return Sent(Failure.REDIRECT if 300 <= status < 400 else Failure.STATUS, status)
