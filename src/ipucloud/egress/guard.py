"""Which network addresses are public, and a guard that connects only to permitted ones.

`ipaddress.is_global` is not enough: it treats NAT64, 6to4, IPv4-compatible and some special ranges as global (IANA's
special-purpose registries, RFC 6890). So IPv6 must be in 2000::/3, which excludes every form with an embedded IPv4
address except Teredo and 6to4; the exceptions of both families are listed.

A name is resolved once for each connection, all its addresses must be permitted, and the connection goes to one of
them. Rebinding the name between check and connection therefore has no effect.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeVar

Address = IPv4Address | IPv6Address

_IPV4 = tuple(
    ip_network(each)
    for each in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
)
_UNICAST = IPv6Network("2000::/3")
_IPV6 = tuple(
    ip_network(each) for each in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)


def is_public(address: Address) -> bool:
    """Whether connections requested by customers may go to this address."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _IPV4)
    if address.scope_id is not None or address not in _UNICAST:
        return False
    return not any(address in network for network in _IPV6)


def parse(text: str) -> Address | None:
    """The address `text` in its usual form; None for a name, and for forms that only some programs accept."""
    try:
        return ip_address(text)
    except ValueError:
        return None


Connection = TypeVar("Connection")
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class ForbiddenAddressError(Exception):
    """A name has no address, or one that is not permitted."""


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """All addresses of a name from the system's resolver. The caller sets the time-out. Raises OSError."""
    places = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(place[0]) for *_, place in places]


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
