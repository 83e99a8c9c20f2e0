"""Limits for the clients of one listener: sizes, numbers and time."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from resource import RLIM_INFINITY

from ipucloud.config import Settings

RESERVED_DESCRIPTORS = 256
"""Reserved for the database, the internal listener, the log and the process's own calls."""
INTERNAL_CONNECTIONS = 64
"""Monitoring needs a handful; a runaway client inside the network must not starve the public listener."""
PROGRESS_BYTES = 65_536
"""What a client has to read of its answer in `write_seconds`."""

Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes are bytes, times seconds.

    `header_bytes` is for everything of a request that is not its body: request line, header fields, trailers, chunk
    extensions. `line_bytes` is for the request line and for each field. `pipelined` requests may wait for the answer
    of one before them. A body has `body_seconds` from the end of its header to its own end. Once the buffers are full,
    a client has `write_seconds` to read each `PROGRESS_BYTES`.
    """

    header_bytes: int = 65_536
    line_bytes: int = 16_384
    header_count: int = 100
    pipelined: int = 16
    connections: int = 10_000
    per_address: int = 1_000
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    idle_seconds: float = 75.0
    write_seconds: float = 30.0
    trusted: tuple[Network, ...] = ()

    def room(self, descriptors: int) -> int:
        """The connections that a process with this limit of open files can hold: `connections`, or fewer."""
        if descriptors == RLIM_INFINITY:
            return self.connections
        return min(self.connections, max(descriptors - RESERVED_DESCRIPTORS, descriptors // 2))


def public_limits(settings: Settings) -> Limits:
    """Of the listener that customers reach."""
    return Limits(
        header_bytes=settings.header_limit,
        connections=settings.connection_limit,
        per_address=settings.connections_per_address,
        header_seconds=settings.header_timeout,
        body_seconds=settings.body_timeout,
        idle_seconds=settings.idle_timeout,
        write_seconds=settings.write_timeout,
        trusted=settings.trusted_proxies or (),
    )


INTERNAL_LIMITS = Limits(connections=INTERNAL_CONNECTIONS, per_address=INTERNAL_CONNECTIONS)
"""Of the listener that only operators reach."""


def subscriber(host: str) -> str:
    """The client of an address: an IPv4 address itself, the /64 network of an IPv6 one; other text as it is.
    it is.

    A /64 is the least that a provider's customer gets, so a client has 2^64 addresses in it.
    """
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return host
    return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))
