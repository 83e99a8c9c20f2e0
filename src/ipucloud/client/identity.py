"""Calls for projects, tokens, SSH keys and quotas."""

from __future__ import annotations

from datetime import datetime

from ipucloud.client import call as request
from ipucloud.client.call import Call, given, nothing, segment
from ipucloud.client.models import NewToken, Page, Project, Quota, SshKey, Token, Whoami


def whoami() -> Call[Whoami]:
    return request.get("whoami", Whoami, scoped=False)


def projects() -> Call[Page[Project]]:
    """The projects visible to the token."""
    return request.get("projects", Page[Project], scoped=False)


def project(project: str) -> Call[Project]:
    return request.get(f"projects/{segment(project)}", Project, scoped=False)


def create_project(slug: str, name: str) -> Call[Project]:
    """Needs a platform token."""
    return request.post("projects", Project, {"slug": slug, "name": name}, scoped=False)


def tokens(*, platform: bool = False) -> Call[Page[Token]]:
    """The project's tokens, including revoked ones; `platform`: the platform's, for administrators and support."""
    return request.get("tokens", Page[Token], scoped=not platform)


def create_token(name: str, role: str, *, expires_at: datetime | None = None, platform: bool = False) -> Call[NewToken]:
    """Create a token; only this response has its secret. `platform`: a platform token, role admin or support."""
    return request.post("tokens", NewToken, given(name=name, role=role, expires_at=expires_at), scoped=not platform)


def rotate_token(
    token: str, *, keep_previous_seconds: int = 0, expires_at: datetime | None = None, platform: bool = False
) -> Call[NewToken]:
    """Replace a token, by id, with one of the same name and role; the replaced one works for this long.

    `expires_at` None: that of the replaced token.
    """
    body = given(keep_previous_seconds=keep_previous_seconds, expires_at=expires_at)
    return request.post(f"tokens/{segment(token)}:rotate", NewToken, body, scoped=not platform)


def revoke_token(token: str, *, platform: bool = False) -> Call[None]:
    """Revoke a token by id, effective immediately."""
    return request.delete(f"tokens/{segment(token)}", nothing, scoped=not platform)


def ssh_keys() -> Call[Page[SshKey]]:
    return request.get("ssh-keys", Page[SshKey])


def add_ssh_key(name: str, public_key: str) -> Call[SshKey]:
    """Add a public key: one line, as in `id_ed25519.pub`."""
    return request.post("ssh-keys", SshKey, {"name": name, "public_key": public_key})


def remove_ssh_key(key: str) -> Call[None]:
    """Delete a key. Servers that already accept it still do."""
    return request.delete(f"ssh-keys/{segment(key)}", nothing)


def quotas() -> Call[Page[Quota]]:
    return request.get("quotas", Page[Quota])
