"""Who may log in: lines of `authorized_keys`, as OpenSSH reads them, and keys that may log in for a while."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import asyncssh

from ipucloud.laboratory.simulator.refusal import invalid

_AUTHORITY = re.compile(r'cert-authority,principals="[^"\\,*?!]+" (?P<key>[^ ]+ [^ ]+)')
"""The only options that a site has to understand."""


@dataclass(frozen=True)
class AuthorizedKeys:
    """The keys themselves, and what asyncssh checks certificates against; None: no certificate is accepted."""

    keys: frozenset[bytes]
    authorities: asyncssh.SSHAuthorizedKeys | None


def parse_keys(lines: Sequence[str]) -> AuthorizedKeys:
    """Refuses a line that holds neither a key nor an authority with principals."""
    keys, authorities = set(), []
    for line in lines:
        if len(line.splitlines()) > 1:
            raise invalid("a line of authorized_keys has a line break")
        authority = _AUTHORITY.fullmatch(line)
        try:
            key = asyncssh.import_public_key(line if authority is None else authority["key"])
        except asyncssh.KeyImportError as error:
            raise invalid(f"not an OpenSSH public key: {line[:40]!r}") from error
        if authority is None:
            keys.add(key.public_data)
        else:
            authorities.append(line)
    trusted = asyncssh.import_authorized_keys("\n".join(authorities)) if authorities else None
    return AuthorizedKeys(frozenset(keys), trusted)


class _Let(NamedTuple):
    key: bytes
    until: float


class LoginKeys:
    """Keys that may log in for a while, as `expiry-time` of OpenSSH has it; those of one start of a server.

    The time of a name never grows: a late request brings no key back.
    """

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
