"""Lines of `authorized_keys`: keys, and authorities whose certificates are accepted, as OpenSSH reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

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
