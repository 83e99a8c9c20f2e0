"""API tokens: `ipu_<env>_<43 base62><6 checksum>`, and the secrets of browsers, invitations and devices.

These begin with `ips_`, `ipl_`, … (`Kind`), so that none is ever read as another. The 43 characters are 32 random
bytes. The checksum is the CRC32 of everything before it, so a mistyped token is detected without the database. All are
stored only as the SHA-256 of their whole text: 256 random bits need no slow hash.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import string
import zlib
from dataclasses import dataclass, field
from enum import StrEnum

ENTROPY_BYTES = 32
DISPLAYED = 8
"""Characters of the random part that a list shows; 208 bits stay secret."""

_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_RANDOM_LENGTH = 43  # 62^43 > 2^256
_CHECKSUM_LENGTH = 6  # 62^6 > 2^32
_ENV = re.compile(r"[a-z]{2,8}", re.ASCII)
_REST = f"[0-9A-Za-z]{{{_RANDOM_LENGTH + _CHECKSUM_LENGTH}}}"
_TOKEN = re.compile(rf"ipu_[a-z]{{2,8}}_{_REST}", re.ASCII)


class TokenKind(StrEnum):
    """Whose a token is: nobody's, or a person's.

    `member`: the membership itself, of which sessions of the panel are; nobody knows its secret. `login`: what
    `ipucloud login` got, with the role of the membership. `personal`: created by a person, with a role of its own.
    """

    SERVICE = "service"
    MEMBER = "member"
    LOGIN = "login"
    PERSONAL = "personal"


class Kind(StrEnum):
    """Secrets of browsers, invitations and devices, by the text that they begin with.

    `STATE` and `BROWSER` are of a sign-in through a provider: `state`, and the cookie of the browser that began it.
    """

    SESSION = "ips_"
    LINK = "ipl_"
    INVITATION = "ipi_"
    STATE = "ipt_"
    BROWSER = "ipb_"
    DEVICE = "ipd_"


_BROWSERS = {kind: re.compile(kind + _REST, re.ASCII) for kind in Kind}


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
    prefix = f"ipu_{env}_"
    secret = _random(prefix)
    return NewToken(secret, _hash(secret), secret[: len(prefix) + DISPLAYED])


def new_secret(kind: Kind) -> tuple[str, bytes]:
    """A fresh secret of a browser, and its hash."""
    secret = _random(kind)
    return secret, _hash(secret)


def token_hash(text: str) -> bytes | None:
    """The hash to look up, or None when the form or the checksum is wrong and no token can have this text."""
    return _checked(_TOKEN, text)


def secret_hash(kind: Kind, text: str) -> bytes | None:
    """As `token_hash`, for a secret of this kind."""
    return _checked(_BROWSERS[kind], text)


def _checked(form: re.Pattern[str], text: str) -> bytes | None:
    if not form.fullmatch(text):
        return None
    body, checksum = text[:-_CHECKSUM_LENGTH], text[-_CHECKSUM_LENGTH:]
    return _hash(text) if _checksum(body) == checksum else None


def _random(prefix: str) -> str:
    body = prefix + _base62(int.from_bytes(secrets.token_bytes(ENTROPY_BYTES)), _RANDOM_LENGTH)
    return body + _checksum(body)


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
