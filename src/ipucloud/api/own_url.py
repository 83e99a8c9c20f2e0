"""Where this service is reached: what its links begin with."""

from __future__ import annotations

import re

from starlette.requests import HTTPConnection

from ipucloud.api.bodies import malformed
from ipucloud.api.services import services_of
from ipucloud.config import Settings

_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::[0-9]{1,5})?", re.ASCII)


def own_url(request: HTTPConnection) -> str:
    """The service's address, without a slash at its end: as it is set, else as the caller reached it.

    Whoever sends a request writes its `Host`, and a link is followed by others, with a secret in it: without the
    setting, only hosts count that are known to be this service. Raises `Problem` malformed_request for another one.
    """
    settings = services_of(request).settings
    if settings.public_url is not None:
        return settings.public_url.rstrip("/")
    found = _HOST.fullmatch(request.headers.get("host", "").lower())
    if found is None or (found["address"] or found["name"]) not in _hosts(request, settings):
        raise malformed(
            "The answer would have a link to the Host of this request, which is not known to be this service. The"
            " operator sets its address as IPUCLOUD_PUBLIC_URL, or its names as IPUCLOUD_ALLOWED_HOSTS."
        )
    return str(request.base_url).rstrip("/")


def _hosts(request: HTTPConnection, settings: Settings) -> set[str]:
    """Those that are allowed, and what the process listens on: as it is set, and as this connection shows."""
    listening, *_ = request.scope.get("server") or ("",)
    return {*settings.allowed_hosts, settings.host.lower(), listening.lower()}
