"""Browsers in which a person signed in before: a cookie says so, which only this installation can make.

It signs nobody in. Its holder's attempts are counted by themselves, so that whoever guesses the person's password
elsewhere does not keep the person out.
"""

from __future__ import annotations

import hmac
import secrets

from starlette.requests import Request
from starlette.responses import Response

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
