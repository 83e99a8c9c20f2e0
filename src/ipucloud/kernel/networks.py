"""Networks from which something is allowed: CIDR, IPv4 and IPv6. None named means: from everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

Network: TypeAlias = IPv4Network | IPv6Network
_MAPPED_BITS = 96
"""An IPv6 network of `::ffff:0:0/96` holds IPv4 addresses, and listeners of both families see those so."""


@lru_cache(maxsize=4096)
def read_network(text: str) -> Network:
    """The network, an address as the network of itself. Raises ValueError, as for a network with host bits set."""
    if "%" in text:
        raise ValueError("an address with a zone is known on one machine only")
    network = ip_network(text)
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    if mapped is None or network.prefixlen < _MAPPED_BITS:
        return network
    return IPv4Network((mapped, network.prefixlen - _MAPPED_BITS))


def read_address(text: str) -> IPv4Address | IPv6Address:
    """The address of a connection, without its zone. Raises ValueError."""
    address = ip_address(text.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address


def within(text: str, sources: Iterable[str]) -> bool:
    """Whether a network is one of these, or part of one."""
    network = read_network(text)
    return any(
        network.version == each.version
        and int(each.network_address) <= int(network.network_address)
        and int(network.broadcast_address) <= int(each.broadcast_address)
        for each in map(read_network, sources)
    )


def allows(sources: Iterable[str], address: str) -> bool:
    """Whether the networks, if there are any, hold the address. What is no address is in none."""
    networks = [read_network(each) for each in sources]
    if not networks:
        return True
    try:
        read = read_address(address)
    except ValueError:
        return False
    return any(read in network for network in networks)
