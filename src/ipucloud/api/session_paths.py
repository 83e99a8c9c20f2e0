"""Where a browser sends a session's cookie by plain HTTP: to paths that only pages of this very port know.

A browser sends a cookie to every port of its host, so also to a notebook or another program that is forwarded to one
of them, but only to paths below the cookie's own. So this path has a random word in it, which the answer to the sign-in
has and the panel keeps in the storage of its origin, of which the port is a part. Over TLS the cookie's name begins
with `__Host-`, with which a browser accepts no path.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

_PREFIX = re.compile(r"(/s/[A-Za-z0-9_-]{22})/v1/", re.ASCII)
_KEY = "ipucloud.session_path"


def new_session_path() -> str:
    """128 random bits."""
    return f"/s/{secrets.token_urlsafe(16)}"


def session_path(scope: Mapping[str, Any]) -> str:
    """That of the request; empty if its path begins with `/v1/` itself."""
    return str(scope.get(_KEY, ""))


class SessionPaths:
    """ASGI middleware that serves `/s/…/v1/…` as `/v1/…`. The word decides only what a browser sends along."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _PREFIX.match(scope["path"]) if scope["type"] in {"http", "websocket"} else None
        if found is not None:
            prefix = found[1]
            scope = {**scope, "path": scope["path"].removeprefix(prefix), _KEY: prefix}
            if "raw_path" in scope:
                scope["raw_path"] = scope["raw_path"].removeprefix(prefix.encode())
        await self._app(scope, receive, send)
