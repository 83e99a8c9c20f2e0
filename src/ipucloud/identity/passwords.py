"""Passwords of people: how strong they must be, and Argon2id.

A hash takes much memory and a tenth of a second of a processor, so that only few are computed at the same time, in
threads, and never while a transaction is open.
"""

from __future__ import annotations

import asyncio
import secrets

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from ipucloud.kernel.errors import FieldError

LEAST, MOST = 12, 256
"""Characters of a password."""
_LEAST_SCORE = 3
_JUDGED = 72
"""Characters that the estimate reads: a longer password is at least as strong as its beginning."""
_AT_ONCE = 2
_HASHER = PasswordHasher()


class Passwords:
    """Hashes and verifies passwords, `_AT_ONCE` at a time."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(_AT_ONCE)

    async def hash(self, password: str) -> str:
        """The text to store."""
        async with self._room:
            return await asyncio.to_thread(_HASHER.hash, password)

    async def verify(self, stored: str | None, password: str) -> bool:
        """Whether it is the password with this hash. Without one the answer is False and takes as long."""
        async with self._room:
            return await asyncio.to_thread(_same, stored, password)


def random_password() -> str:
    """A password of 120 random bits, for a person who forgot theirs."""
    return secrets.token_urlsafe(15)


def weakness(password: str, email: str, pointer: str) -> FieldError | None:
    """Why the password of a person with this e-mail is too easy to guess; None: it is not."""
    from zxcvbn import zxcvbn

    name, _, domain = email.partition("@")
    strength = zxcvbn(password[:_JUDGED], user_inputs=[email, name, domain, domain.partition(".")[0], "ipucloud"])
    if strength["score"] >= _LEAST_SCORE:
        return None
    return FieldError(
        pointer, "too_weak", "This password is easy to guess. Use several unrelated words, or a password manager."
    )


def _same(stored: str | None, password: str) -> bool:
    if stored is None:
        _HASHER.hash(password)
        return False
    try:
        return _HASHER.verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False
