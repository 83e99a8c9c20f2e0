"""API tokens: `ipu_<env>_<43 base62><6 checksum>`.

The 43 characters are 32 random bytes. The checksum is the CRC32 of everything before it, so a mistyped token is
detected without the database. A token is stored only as the SHA-256 of its whole text: 256 random bits need no slow
hash.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import string
import zlib
from dataclasses import dataclass, field

ENTROPY_BYTES = 32
DISPLAYED = 8
"""Characters of the random part that a list shows; 208 bits stay secret."""

_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_RANDOM_LENGTH = 43  # 62^43 > 2^256
_CHECKSUM_LENGTH = 6  # 62^6 > 2^32
_ENV = re.compile(r"[a-z]{2,8}", re.ASCII)
_TOKEN = re.compile(rf"ipu_[a-z]{{2,8}}_[0-9A-Za-z]{{{_RANDOM_LENGTH + _CHECKSUM_LENGTH}}}", re.ASCII)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A new token: `secret` is shown to its owner once and not stored, the rest is."""

    secret: str = field(repr=False)
    hash: bytes
    display_prefix: str


def new_token(env: str) -> NewToken:
    """A fresh token; `env` (2 to 8 lower-case letters) identifies the installation. Raises ValueError."""
    if not _ENV.fullmatch(env):
        raise ValueError("a token's environment is 2 to 8 lower-case letters")
    number = int.from_bytes(secrets.token_bytes(ENTROPY_BYTES))
    body = f"ipu_{env}_{_base62(number, _RANDOM_LENGTH)}"
    secret = body + _checksum(body)
    return NewToken(secret, _hash(secret), secret[: len(f"ipu_{env}_") + DISPLAYED])


def token_hash(text: str) -> bytes | None:
    """The hash to look up, or None when the form or the checksum is wrong and no token can have this text."""
    if not _TOKEN.fullmatch(text):
        return None
    body, checksum = text[:-_CHECKSUM_LENGTH], text[-_CHECKSUM_LENGTH:]
    return _hash(text) if _checksum(body) == checksum else None


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("ascii")).digest()


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode("ascii")), _CHECKSUM_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))
