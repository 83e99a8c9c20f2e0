"""Users and access keys, which only a secure controller asks for."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import TypeAlias

from ipucloud.laboratory.simulator.refusal import exists, invalid, not_found, unauthenticated
from ipucloud.laboratory.simulator.vipu.allocations import Allocations
from ipucloud.laboratory.simulator.vipu.callers import EVERYBODY, Caller
from ipucloud.laboratory.simulator.vipu.context import Context
from ipucloud.laboratory.simulator.vipu.model import User
from ipucloud.laboratory.simulator.vipu.rules import check_id
from ipucloud.wire.vipu_calls import ACCESS_KEY, ALLOCATION, SECRET_PREFIX, USER

SECRET_BYTES = 24
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
Metadata: TypeAlias = Iterable[tuple[str, str | bytes]] | None


class Users:
    """Every user of one controller. Of an access key only a digest is kept.

    Unless the controller is `secure`, nobody has to prove who they are.
    """

    def __init__(self, context: Context, allocations: Allocations, *, secure: bool) -> None:
        self._context = context
        self._secure = secure
        self._users = context.state.users
        self._allocations = allocations

    def get(self, name: str) -> User:
        user = self._users.get(name)
        if user is None:
            raise not_found(f"user {name!r} does not exist")
        return user

    def all(self) -> list[User]:
        """Every user, by id."""
        return [user for _, user in sorted(self._users.items())]

    def create(self, name: str, allocation_ids: Sequence[str], *, everything: bool) -> User:
        check_id("user", name)
        if name in self._users:
            raise exists(f"user {name!r} exists")
        self._users[name] = User(name, self._known(allocation_ids), everything)
        self._context.changed()
        return self._users[name]

    def set_allocations(self, name: str, allocation_ids: Sequence[str], *, everything: bool) -> User:
        """Replace what a user sees."""
        user = self.get(name)
        user.allocation_ids, user.all_allocations = self._known(allocation_ids), everything
        self._context.changed()
        return user

    def remove(self, name: str) -> None:
        """Remove a user and all their keys."""
        self.get(name)
        del self._users[name]
        self._context.changed()

    def create_key(self, name: str, key_id: str, digest: str = "") -> str:
        """A new access key; only this answer contains it. With the caller's `digest`, none does."""
        user = self.get(name)
        check_id("access key", key_id)
        if digest and not _DIGEST.fullmatch(digest):
            raise invalid("a SHA-256 digest is 64 small hexadecimal digits")
        if key_id in user.keys:
            raise exists(f"user {name!r} has an access key {key_id!r}; its secret is shown only once")
        secret = "" if digest else SECRET_PREFIX + secrets.token_urlsafe(SECRET_BYTES)
        user.keys[key_id] = digest or _digest(secret)
        self._context.changed()
        return secret

    def keep_administrator(self, name: str, secret: str) -> None:
        """Let there be a user of this name who sees everything, with this access key."""
        self._users[name] = User(name, [], all_allocations=True, keys={name: _digest(secret)})
        self._context.changed()

    def remove_key(self, name: str, key_id: str) -> None:
        if self.get(name).keys.pop(key_id, None) is None:
            raise not_found(f"user {name!r} has no access key {key_id!r}")
        self._context.changed()

    def tenant(self, metadata: Metadata, allocation: str) -> Caller:
        """Who calls the user endpoint of an allocation."""
        return self._authenticate(metadata, lambda caller: caller.sees(allocation)).within(allocation)

    def administrator(self, metadata: Metadata) -> Caller:
        """Who calls the administration endpoint, about one allocation if the call names it."""
        caller = self._authenticate(metadata, lambda caller: caller is EVERYBODY)
        allocation = next((value for name, value in metadata or () if name == ALLOCATION), "")
        return caller.within(str(allocation)) if allocation else caller

    def _authenticate(self, metadata: Metadata, allowed: Callable[[Caller], bool]) -> Caller:
        """The caller whom a call's metadata proves; everybody, unless the controller is secure.

        A wrong user, a wrong key and a user who is not `allowed` here are refused alike.
        """
        if not self._secure:
            return EVERYBODY
        claim = credentials(metadata)
        if claim is None:
            raise unauthenticated(f"this controller is secure: send {USER!r} and {ACCESS_KEY!r} as metadata")
        name, secret = claim
        user, digest = self._users.get(name), _digest(secret)
        if user is not None and any(secrets.compare_digest(digest, kept) for kept in user.keys.values()):
            caller = EVERYBODY if user.all_allocations else Caller(frozenset(user.allocation_ids).__contains__)
            if allowed(caller):
                return caller
        raise unauthenticated(f"user {name!r} is not known here by this access key")

    def _known(self, allocation_ids: Sequence[str]) -> list[str]:
        return [self._allocations.get(name).id for name in dict.fromkeys(allocation_ids)]


def credentials(metadata: Metadata) -> tuple[str, str] | None:
    """The user and access key that a call's metadata names, if it names both."""
    values = {name: value for name, value in metadata or () if isinstance(value, str)}
    return (values[USER], values[ACCESS_KEY]) if USER in values and ACCESS_KEY in values else None


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
