"""Networks from which the site lets connections in."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network


def read_network(text: str) -> IPv4Network | IPv6Network:
    """A network, or an address as the network of itself. Raises ValueError."""
    return ip_network(text)


def allows(networks: Iterable[str], client: str) -> bool:
    """Whether a client is let in: from everywhere if there are no networks."""
    address = ip_address(client.partition("%")[0])
    address = getattr(address, "ipv4_mapped", None) or address  # as a listener of both families sees IPv4 clients
    known = [read_network(each) for each in networks]
    return not known or any(address in network for network in known)
