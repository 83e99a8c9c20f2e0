"""Cookies: of browsers in which a person signed in before, and the path of a session by plain HTTP.

It signs nobody in. Its holder's attempts are counted by themselves, so that whoever guesses the person's password
elsewhere does not keep the person out.

A browser sends a cookie to every port of its host, so also to a notebook or another program that is forwarded to one
of them, but only to paths below the cookie's own. So this path has a random word in it, which the answer to the sign-in
has and the panel keeps in the storage of its origin, of which the port is a part. Over TLS the cookie's name begins
with `__Host-`, with which a browser accepts no path.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ipucloud.api.credentials import over_tls
from ipucloud.kernel.sealing import Keys, derive

_PLAIN = "ipucloud-device"
_SECURE = f"__Host-{_PLAIN}"
_SECONDS = 365 * 24 * 3600


class Devices:
    """Makes and checks the cookies. Without `keys` they hold as long as the process lives."""

    def __init__(self, keys: Keys | None) -> None:
        self._key = (secrets.token_urlsafe() if keys is None else derive(keys, "devices of people")).encode()

    def known(self, request: Request, email: str) -> str | None:
        """The device's name, if the person signed in with it before."""
        name, _, proof = request.cookies.get(_cookie(request), "").partition(".")
        return name if name and hmac.compare_digest(proof.encode(), self._proof(name, email).encode()) else None

    def remember(self, request: Request, response: Response, email: str) -> None:
        """The person has just signed in with it."""
        name = self.known(request, email) or secrets.token_urlsafe(12)
        response.set_cookie(
            _cookie(request),
            f"{name}.{self._proof(name, email)}",
            max_age=_SECONDS,
            path="/",
            secure=over_tls(request.scope),
            httponly=True,
            samesite="strict",
        )

    def _proof(self, name: str, email: str) -> str:
        return hmac.digest(self._key, f"{name}/{email}".encode(), "sha256").hex()


def _cookie(request: Request) -> str:
    return _SECURE if over_tls(request.scope) else _PLAIN


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
        match = _PREFIX.match(scope["path"]) if scope["type"] in {"http", "websocket"} else None
        if match is not None:
            prefix = match[1]
            scope = {**scope, "path": scope["path"].removeprefix(prefix), _KEY: prefix}
            if "raw_path" in scope:
                scope["raw_path"] = scope["raw_path"].removeprefix(prefix.encode())
        await self._app(scope, receive, send)
