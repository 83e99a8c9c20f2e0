"""Whose address it is."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address


def subscriber(host: str) -> str:
    """Whom a client counts as: its IPv4 address, or the /64 network of its IPv6 one; what is no address stays as it is.

    A /64 is the least that a customer of a provider gets, so a client has 2^64 addresses in it.
    """
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return host
    return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))
