"""Projects, tokens, keys, quotas."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import Field

from ipucloud.client.models.base import Answer


class Project(Answer):
    """A project; `id`, `number` and `slug` name it equally well."""

    id: str
    number: int
    slug: str
    name: str = ""


class Token(Answer):
    """A token as it can be looked at later: without its secret, but for its beginning."""

    id: str
    name: str
    role: str
    display_prefix: str = ""
    created_at: datetime | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None


class NewToken(Token):
    """A token just made. `token` is the secret, shown this once: None if the first answer was lost on the way."""

    token: str | None = Field(repr=False)


class Whoami(Answer):
    """What the token that asks is. `scopes` are its permissions; `project` is None for a token of the platform."""

    role: str
    token: Token | None = None
    project: Project | None = None
    scopes: Sequence[str] = ()


class SshKey(Answer):
    """A public key that a cluster's servers may let in."""

    id: str
    name: str
    type: str = ""
    fingerprint: str
    public_key: str
    created_at: datetime | None = None


class Quota(Answer):
    """How many machines of a type a project may hold in a region, and how many it holds."""

    region: str
    machine_type: str
    limit: int
    used: int
