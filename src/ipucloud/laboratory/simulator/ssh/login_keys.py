"""Keys that may log in for a while, as `expiry-time` in the `authorized_keys` of OpenSSH has it."""

from __future__ import annotations

import time
from typing import NamedTuple

import asyncssh


class _Let(NamedTuple):
    key: bytes
    until: float


class LoginKeys:
    """Those of one start of a server, by name. The time of a name never grows: a late request brings no key back."""

    def __init__(self) -> None:
        self._let: dict[str, _Let] = {}

    def put(self, name: str, public_key: str, seconds: float) -> None:
        """Let a key in for these seconds, or for the rest of those it had."""
        until = time.monotonic() + seconds
        before = self._let.get(name)
        if before is not None:
            until = min(until, before.until)
        self._let[name] = _Let(asyncssh.import_public_key(public_key).public_data, until)

    def __contains__(self, key: bytes) -> bool:
        now = time.monotonic()
        return any(each.key == key and each.until > now for each in self._let.values())
