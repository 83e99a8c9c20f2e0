"""Which addresses count as one client."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address


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
