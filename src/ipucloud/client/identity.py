"""Calls about who may do what: projects, tokens, SSH keys, quotas."""

from __future__ import annotations

from datetime import datetime

from ipucloud.client import call as request
from ipucloud.client.call import Call, given, nothing, segment
from ipucloud.client.models import NewToken, Page, Project, Quota, SshKey, Token, Whoami


def whoami() -> Call[Whoami]:
    return request.get("whoami", Whoami, scoped=False)


def projects() -> Call[Page[Project]]:
    """The projects this token may see."""
    return request.get("projects", Page[Project], scoped=False)


def project(project: str) -> Call[Project]:
    return request.get(f"projects/{segment(project)}", Project, scoped=False)


def create_project(slug: str, name: str) -> Call[Project]:
    """Needs a token of the platform."""
    return request.post("projects", Project, {"slug": slug, "name": name}, scoped=False)


def tokens(*, platform: bool = False) -> Call[Page[Token]]:
    """The project's tokens, revoked ones too; `platform`: the platform's, for its administrators and support."""
    return request.get("tokens", Page[Token], scoped=not platform)


def create_token(name: str, role: str, *, expires_at: datetime | None = None, platform: bool = False) -> Call[NewToken]:
    """Make a token; its secret is in this answer and nowhere else, ever. `platform`: of role admin or support."""
    return request.post("tokens", NewToken, given(name=name, role=role, expires_at=expires_at), scoped=not platform)


def rotate_token(
    token: str, *, keep_previous_seconds: int = 0, expires_at: datetime | None = None, platform: bool = False
) -> Call[NewToken]:
    """Replace a token, by its id, with one of the same name and role; so long the replaced one works, too.

    `expires_at` None: the new one expires when the replaced one would have.
    """
    body = given(keep_previous_seconds=keep_previous_seconds, expires_at=expires_at)
    return request.post(f"tokens/{segment(token)}:rotate", NewToken, body, scoped=not platform)


def revoke_token(token: str, *, platform: bool = False) -> Call[None]:
    """End a token by its id, everywhere, from the next request on."""
    return request.delete(f"tokens/{segment(token)}", nothing, scoped=not platform)


def ssh_keys() -> Call[Page[SshKey]]:
    return request.get("ssh-keys", Page[SshKey])


def add_ssh_key(name: str, public_key: str) -> Call[SshKey]:
    """Import a public key, a line as in `id_ed25519.pub`."""
    return request.post("ssh-keys", SshKey, {"name": name, "public_key": public_key})


def remove_ssh_key(key: str) -> Call[None]:
    """Servers that already let the key in go on doing so."""
    return request.delete(f"ssh-keys/{segment(key)}", nothing)


def quotas() -> Call[Page[Quota]]:
    return request.get("quotas", Page[Quota])
