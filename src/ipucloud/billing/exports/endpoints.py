"""Where files may be delivered to: no address of our own network, whatever its name says."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from ipucloud.kernel.addresses import is_public, parse


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
    for *_, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        address = parse(str(place[0]))
        if address is None or not is_public(address):
            raise ForbiddenEndpointError("The endpoint's address is not a public one.")
