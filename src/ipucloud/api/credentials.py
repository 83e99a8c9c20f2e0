"""The `Authorization` header: `Bearer <token>`, or `APIKey <token>` as gcore clients send it."""

from __future__ import annotations

from collections.abc import Iterable

from ipucloud.identity.tokens import token_hash

_SCHEMES = frozenset({b"bearer", b"apikey"})


def credential(headers: Iterable[tuple[bytes, bytes]]) -> bytes | None:
    """The hash of the token; None for no or several headers, another scheme, or text that cannot be a token."""
    found = [value for name, value in headers if name == b"authorization"]
    if len(found) != 1:
        return None
    scheme, _, token = found[0].partition(b" ")
    if scheme.lower() not in _SCHEMES:
        return None
    return token_hash(token.strip(b" ").decode("latin-1"))
