"""Which network addresses are public. Pure.

`ipaddress.is_global` is not enough: it treats NAT64, 6to4, IPv4-compatible and some special ranges as global (IANA's
special-purpose registries, RFC 6890). So IPv6 must be in 2000::/3, which excludes every form with an embedded IPv4
address except Teredo and 6to4; the exceptions of both families are listed.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

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
