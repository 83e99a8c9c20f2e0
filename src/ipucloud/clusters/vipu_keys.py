"""Access keys of clusters at secure V-IPU controllers. Law: no secret is stored; what is stored is its digest.

A cluster's user has the cluster's external name. Its keys are of two kinds: the one in the environment of the Poplar
servers, whose secret is derived from the installation's own key whenever it is needed; and the customer's, whose secret
is made in a request, shown in its answer and forgotten. The controller is told digests only, so a call whose answer got
lost is simply made again: there is never a key that nobody knows of.

A customer's key stays when the cluster is suspended, and resumed under another name. The servers get a new one then,
also when the one before was ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from ipucloud.kernel.ids import EXTERNAL_NAME_LIMIT
from ipucloud.kernel.sealing import Keys, derive

SECRET_PREFIX = "vipu_"
"""What every access key begins with, so that a leaked one is recognised."""


@dataclass(frozen=True, slots=True)
class ServerKey:
    """The key that a cluster's Poplar servers get."""

    id: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Access:
    """What a cluster's user at a secure controller is to have.

    `server` None: this installation has no key to derive one from. `keys`: digests of the customer's, by id.
    """

    user: str
    server: ServerKey | None
    keeps_server_key: bool
    keys: Mapping[str, str]

    @property
    def wanted(self) -> Mapping[str, str]:
        """Digests of all keys that the user is to have, by id."""
        if self.server is None or not self.keeps_server_key:
            return self.keys
        return {**self.keys, self.server.id: digest_of(self.server.secret)}

    def keeps(self, key_id: str) -> bool:
        """Whether a key that the controller has is to stay. A server may have one by an older key of ours."""
        return key_id in self.keys or (self.keeps_server_key and key_id.startswith(f"{self.user}-s"))


def access_of(user: str, keys: Keys | None, stored: Mapping[str, Any]) -> Access:
    """`stored`: the customer's `keys`, and whether one of them `ended_server_key`."""
    server = None
    if keys is not None:
        # The id names our key: another one makes another secret, and the controller keeps both. A cluster that was
        # resumed a hundred times leaves less room for that.
        key_id = f"{user}-s{keys.current[:5]}"[:EXTERNAL_NAME_LIMIT]
        server = ServerKey(key_id, SECRET_PREFIX + derive(keys, f"V-IPU access key {key_id}"))
    return Access(user, server, not stored["ended_server_key"], stored["keys"] or {})


def digest_of(secret: str) -> str:
    """SHA-256 in small hexadecimal digits: 256 random bits need no slow hash."""
    return sha256(secret.encode()).hexdigest()
