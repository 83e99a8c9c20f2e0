"""Connecting to permitted addresses only.

A name is resolved once for each connection, every address that it has must be permitted, and the connection goes to
one of those. A name that is bound to another address between check and connection therefore changes nothing.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from ipucloud.egress.addresses import Address, is_public, parse

Connection = TypeVar("Connection")
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class ForbiddenAddressError(Exception):
    """A name has an address that is not permitted, or none."""


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """Every address that the system's resolver knows of a name. The caller sets the time-out. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(place[0]) for *_, place in found]


def any_address(_: Address) -> bool:
    """Permits every address: for tests and closed networks."""
    return True


@dataclass(frozen=True, slots=True)
class Guard:
    """Which addresses may be connected to, and who says what addresses a name has."""

    permits: Callable[[Address], bool] = is_public
    resolve: Resolve = system_resolver

    async def connect(
        self,
        host: str,
        port: int,
        dial: Callable[[str], Awaitable[Connection]],
        unreachable: type[Exception] = OSError,
    ) -> Connection:
        """What `dial` makes of the first address that answers; an address that raises `unreachable` does not.

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
