"""Ed25519 signatures of what the service vouches for. The key is derived from that which encrypts secrets."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ipucloud.kernel.sealing import Keys, derive

_PURPOSE = "proofs of bills"


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs under one key."""

    _key: Ed25519PrivateKey = field(repr=False)

    @property
    def public_key(self) -> str:
        """What verifies its signatures: 32 bytes in base64."""
        raw = self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return base64.b64encode(raw).decode()

    def sign(self, statement: str) -> str:
        """64 bytes in base64; the same statement has the same signature."""
        return base64.b64encode(self._key.sign(statement.encode())).decode()


def signer_of(keys: Keys) -> Signer:
    """The signer of the current key."""
    seed = derive(keys, _PURPOSE)
    return Signer(Ed25519PrivateKey.from_private_bytes(base64.urlsafe_b64decode(seed + "=")))
