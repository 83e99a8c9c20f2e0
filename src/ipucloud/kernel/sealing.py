"""Encryption of secrets that are stored and used again (webhook secrets, S3 keys).

AES-256-GCM with a random nonce of 96 bits. The text names its key, so that keys can be replaced while the system runs.
It can be decrypted only for the place that it was encrypted for (`place`), so swapped rows are detected.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ipucloud.kernel.errors import NOT_CONFIGURED, Problem

KEY_BYTES = 32
NONCE_BYTES = 12
_VERSION = "v1"
_KEY_ID_LENGTH = 12
_SEALED = re.compile(rf"{_VERSION}\.[0-9a-f]{{{_KEY_ID_LENGTH}}}\.[A-Za-z0-9_-]{{38,}}", re.ASCII)
"""At least the nonce and the tag. Not `v1.2`, which is somebody's version of something."""


class SealingError(Exception):
    """A fault of a key or an encrypted text; contains nothing secret."""


@dataclass(frozen=True, slots=True)
class Keys:
    """`current` encrypts; every key of `by_id` decrypts. An id is the beginning of the key's SHA-256 digest."""

    current: str
    by_id: Mapping[str, bytes] = field(repr=False)


def read_keys(text: str) -> Keys:
    """Keys from a setting: 32 bytes each in URL-safe base64 (43 characters), separated by commas, current one first."""
    keys = [_key(each.strip()) for each in text.split(",")]
    by_id = {sha256(key).hexdigest()[:_KEY_ID_LENGTH]: key for key in keys}
    return Keys(next(iter(by_id)), by_id)


def needed(keys: Keys | None) -> Keys:
    """The keys, for storing a secret. Raises `Problem` not_configured if there are none."""
    if keys is None:
        raise Problem(
            NOT_CONFIGURED,
            "This installation cannot store secrets. Its operator must set IPUCLOUD_SECRETS_KEY; until then the same "
            "request is refused.",
        )
    return keys


def new_key() -> str:
    """A random key, as `read_keys` takes it."""
    return secrets.token_urlsafe(KEY_BYTES)


def place(table: str, row: UUID | str, column: str, project: UUID | str) -> str:
    """The place of an encrypted text: its associated data."""
    return f"{table}/{row}/{column}/{project}"


def seal(keys: Keys, plaintext: str, aad: str) -> str:
    """`v1.<key id>.<nonce and ciphertext>`; `aad` (see `place`) is required to decrypt it."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    sealed = AESGCM(keys.by_id[keys.current]).encrypt(nonce, plaintext.encode(), aad.encode())
    return f"{_VERSION}.{keys.current}.{_encode(nonce + sealed)}"


def is_sealed(text: str) -> bool:
    """Whether a text is one of `seal`, in a column that also has texts which begin otherwise."""
    return _SEALED.fullmatch(text) is not None


def unseal(keys: Keys, sealed: str, aad: str) -> str:
    """The plain text. Raises SealingError: the key is missing, or the text does not belong to this place."""
    version, _, rest = sealed.partition(".")
    key_id, _, body = rest.partition(".")
    if version != _VERSION:
        raise SealingError("a sealed text is of another version")
    key = keys.by_id.get(key_id)
    if key is None:
        raise SealingError(f"the key {key_id[:_KEY_ID_LENGTH]!r} that sealed a text is not among the keys given")
    try:
        data = _decode(body)
        return AESGCM(key).decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], aad.encode()).decode()
    except (InvalidTag, ValueError):
        raise SealingError("a sealed text was changed, or belongs to another place") from None


def to_store(keys: Keys | None, plain: str, aad: str) -> str:
    """What the database gets of a secret: encrypted, or in an installation without a key the text itself.

    `worker.reencryption` encrypts that once there is a key.
    """
    return plain if keys is None else seal(keys, plain, aad)


def stored_plain(keys: Keys | None, stored: str, aad: str) -> str:
    """The text that `to_store` was given. Raises SealingError: the key that encrypted it is missing."""
    if not is_sealed(stored):
        return stored
    if keys is None:
        raise SealingError("there is no key")
    return unseal(keys, stored, aad)


def derive(keys: Keys, purpose: str) -> str:
    """A secret that only the holder of the current key can derive, always the same: 32 bytes in URL-safe base64."""
    return _encode(hmac.digest(keys.by_id[keys.current], f"{_VERSION}/{purpose}".encode(), "sha256"))


def current_prefix(keys: Keys) -> str:
    """With this begins what the current key encrypted."""
    return f"{_VERSION}.{keys.current}."


def is_current(keys: Keys, sealed: str) -> bool:
    """Whether the current key encrypted it; otherwise it should be re-encrypted."""
    return sealed.startswith(current_prefix(keys))


def _key(text: str) -> bytes:
    try:
        key = _decode(text)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise SealingError("a key is 32 bytes in URL-safe base64: 43 characters")
    return key


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    """Raises ValueError."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ValueError("not base64") from error


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
