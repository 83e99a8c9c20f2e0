"""Calls about who may do what: projects, tokens, SSH keys, quotas."""

from __future__ import annotations

from datetime import datetime

from ipucloud.client import call as request
from ipucloud.client.call import Call, given, nothing, segment
from ipucloud.client.models.base import Page
from ipucloud.client.models.identity import NewToken, Project, Quota, SshKey, Token, Whoami


def whoami() -> Call[Whoami]:
    return request.get("whoami", Whoami.model_validate_json)


def projects() -> Call[Page[Project]]:
    """The projects this token may see."""
    return request.get("projects", Page[Project].model_validate_json)


def project(project: str) -> Call[Project]:
    return request.get(f"projects/{segment(project)}", Project.model_validate_json)


def create_project(slug: str, name: str) -> Call[Project]:
    """Needs a token of the platform."""
    return request.post("projects", Project.model_validate_json, {"slug": slug, "name": name})


def tokens() -> Call[Page[Token]]:
    return request.get("tokens", Page[Token].model_validate_json, scoped=True)


def create_token(name: str, role: str, *, expires_at: datetime | None = None) -> Call[NewToken]:
    """Make a token; its secret is in this answer and nowhere else, ever."""
    body = given(name=name, role=role, expires_at=expires_at)
    return request.post("tokens", NewToken.model_validate_json, body, scoped=True)


def revoke_token(token: str) -> Call[None]:
    """End a token by its id, everywhere, within a second."""
    return request.delete(f"tokens/{segment(token)}", nothing, scoped=True)


def ssh_keys() -> Call[Page[SshKey]]:
    return request.get("ssh-keys", Page[SshKey].model_validate_json, scoped=True)


def add_ssh_key(name: str, public_key: str) -> Call[SshKey]:
    """Import a public key, a line as in `id_ed25519.pub`."""
    return request.post("ssh-keys", SshKey.model_validate_json, {"name": name, "public_key": public_key}, scoped=True)


def remove_ssh_key(key: str) -> Call[None]:
    """Servers that already let the key in go on doing so."""
    return request.delete(f"ssh-keys/{segment(key)}", nothing, scoped=True)


def quotas() -> Call[Page[Quota]]:
    return request.get("quotas", Page[Quota].model_validate_json, scoped=True)
