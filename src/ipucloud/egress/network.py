"""TCP connections of an HTTP client through a guard."""

from __future__ import annotations

from collections.abc import Iterable

import httpcore

from ipucloud.egress.guard import ForbiddenAddressError, Guard


class GuardedNetwork(httpcore.AsyncNetworkBackend):
    """TCP connections through a guard only."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  # the protocol's own
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Raises ForbiddenAddressError, OSError for an unknown name, and errors of the connection."""

        async def dial(address: str) -> httpcore.AsyncNetworkStream:
            return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)

        return await self._guard.connect(host, port, dial, httpcore.ConnectError)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109  # the protocol's own
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise ForbiddenAddressError

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)
