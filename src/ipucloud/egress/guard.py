"""Connects only to permitted addresses.

A name is resolved once for each connection, all its addresses must be permitted, and the connection goes to one of
them. Rebinding the name between check and connection therefore has no effect.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from ipucloud.egress.urls import Address, is_public, parse

Connection = TypeVar("Connection")
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class ForbiddenAddressError(Exception):
    """A name has no address, or one that is not permitted."""


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """All addresses of a name from the system's resolver. The caller sets the time-out. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(place[0]) for *_, place in found]


def any_address(_: Address) -> bool:
    """Permits every address: for tests and closed networks."""
    return True


@dataclass(frozen=True, slots=True)
class Guard:
    """Which addresses are permitted, and the resolver of names."""

    permits: Callable[[Address], bool] = is_public
    resolve: Resolve = system_resolver

    async def connect(
        self,
        host: str,
        port: int,
        dial: Callable[[str], Awaitable[Connection]],
        unreachable: type[Exception] = OSError,
    ) -> Connection:
        """The result of `dial` for the first address that does not raise `unreachable`.

        The caller sets the time-out.

        Raises:
            ForbiddenAddressError: an address of the name is not permitted. None was dialled.
            OSError: the name could not be resolved.
            Exception: `unreachable`, of the last address.
        """
        addresses = await self.resolve(host, port)
        if not addresses or not all(map(self._permitted, addresses)):
            raise ForbiddenAddressError
        *others, last = addresses
        for address in others:
            with suppress(unreachable):
                return await dial(address)
        return await dial(last)

    def _permitted(self, text: str) -> bool:
        address = parse(text)
        return address is not None and self.permits(address)
