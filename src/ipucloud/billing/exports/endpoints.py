"""Where files may be delivered to: no address of our own network, whatever its name says."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

_FORBIDDEN = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
)
_GLOBAL = ipaddress.ip_network("2000::/3")
_FORBIDDEN_6 = tuple(
    ipaddress.ip_network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)


class ForbiddenEndpointError(Exception):
    """An address that files must not be delivered to; a sentence that repeats none of it."""


def check_form(endpoint: str, *, private_too: bool) -> tuple[str, int]:
    """Host and port of an endpoint's URL. Raises ForbiddenEndpointError."""
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError:
        raise ForbiddenEndpointError("The endpoint must look like https://host or https://host:port.") from None
    allowed = {"https", "http"} if private_too else {"https"}
    plain = not parts.path.strip("/") and not parts.query and not parts.fragment and parts.username is None
    if parts.scheme not in allowed or not parts.hostname or not plain or not endpoint.isascii():
        raise ForbiddenEndpointError("The endpoint must look like https://host or https://host:port.")
    return parts.hostname, port or (443 if parts.scheme == "https" else 80)


def check_endpoint(endpoint: str, *, private_too: bool) -> None:
    """Look up every address of the endpoint's name and judge it. Raises ForbiddenEndpointError, OSError."""
    host, port = check_form(endpoint, private_too=private_too)
    if private_too:
        return
    for *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        if not is_public(str(address[0])):
            raise ForbiddenEndpointError("The endpoint's address is not a public one.")


def is_public(address: str) -> bool:
    """Whether an address is of the public internet: `ipaddress.is_global` calls some that are not so."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv4Address):
        return not any(found in network for network in _FORBIDDEN)
    if found.ipv4_mapped is not None:
        return is_public(str(found.ipv4_mapped))
    return found in _GLOBAL and not any(found in network for network in _FORBIDDEN_6)
