"""What an endpoint of a bucket's service may look like. Which addresses it may lead to: `passage`."""

from __future__ import annotations

from urllib.parse import urlsplit


class ForbiddenEndpointError(Exception):
    """An address that files must not be delivered to; a sentence that repeats none of it."""


def check_form(endpoint: str, *, private_too: bool, ports: frozenset[int]) -> tuple[str, int]:
    """Host and port of an endpoint's URL. `private_too`: plain HTTP and any port will do.

    Raises ForbiddenEndpointError.
    """
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError:
        raise ForbiddenEndpointError("The endpoint must look like https://host or https://host:port.") from None
    allowed = {"https", "http"} if private_too else {"https"}
    plain = not parts.path.strip("/") and not parts.query and not parts.fragment and parts.username is None
    if parts.scheme not in allowed or not parts.hostname or not plain or not endpoint.isascii():
        raise ForbiddenEndpointError("The endpoint must look like https://host or https://host:port.")
    if port is None:
        port = 443 if parts.scheme == "https" else 80
    if not private_too and port not in ports:
        named = ", ".join(map(str, sorted(ports)))
        raise ForbiddenEndpointError(f"Files are not delivered to that port here, only to: {named}.")
    return parts.hostname, port
