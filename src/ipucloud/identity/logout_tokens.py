"""Logout tokens: what a provider says of a person who signed out there (OpenID Connect Back-Channel Logout 1.0).

Signature, issuer, audience and times were verified (`providers.Providers.logout`). What is judged here tells a logout
token from any other token that the provider signs for this client.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OLDEST = 600.0
"""Seconds after which a logout token is refused, though it says that it is valid for longer."""
_EVENT = "http://schemas.openid.net/event/backchannel-logout"
_TYPES = frozenset({"logout+jwt", "application/logout+jwt", "jwt"})
"""Of the header; older providers send `JWT`, or nothing."""


class TokenRefused(Exception):
    """A token of a provider is not accepted; its text says why, as the end of a sentence about the token."""


@dataclass(frozen=True, slots=True)
class Logout:
    """A session that ended at the provider (`sid`), or all of a person's there; at least one of the two is said."""

    issuer: str
    subject: str | None
    sid: str | None
    jti: str


def read(issuer: str, header: Mapping[str, Any], claims: Mapping[str, Any], *, now: float) -> Logout:
    """What a logout token says. Raises `TokenRefused` for any other token."""
    kind = header.get("typ")
    if kind is not None and (not isinstance(kind, str) or kind.lower() not in _TYPES):
        raise TokenRefused("has the type of another kind of token")
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(_EVENT), dict):
        raise TokenRefused("has no claim events with a back-channel logout")
    if "nonce" in claims:
        raise TokenRefused("has a nonce, which only ID tokens have")
    if claims["iat"] < now - OLDEST:
        raise TokenRefused("was issued too long ago")
    for name in ("sub", "sid", "jti"):
        if name in claims and not (isinstance(claims[name], str) and claims[name]):
            raise TokenRefused(f"has a claim {name} that is not a text")
    subject, sid = claims.get("sub"), claims.get("sid")
    if subject is None and sid is None:
        raise TokenRefused("says neither sub nor sid")
    return Logout(issuer, subject, sid, claims["jti"])
