"""Calls for the SSH keys that may log in to new clusters."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, nothing, segment
from ipucloud.client.models import Page, SshKey


def list(
    *, name: str | None = None, q: str | None = None, order: str | None = None, limit: int | None = None
) -> Call[Page[SshKey]]:
    """The project's keys; `name`: exactly this one, `q`: those with this in their name."""
    return request.get("ssh-keys", Page[SshKey], {"name": name, "q": q, "order": order, "limit": limit})


def get(key: Ref) -> Call[SshKey]:
    """One key, by name or id."""
    return request.get(f"ssh-keys/{segment(key)}", SshKey)


def create(name: str, public_key: str) -> Call[SshKey]:
    """Add a public key: one line, as in `id_ed25519.pub`."""
    return request.post("ssh-keys", SshKey, {"name": name, "public_key": public_key})


def delete(key: Ref) -> Call[None]:
    """Delete a key. Servers that already accept it still do."""
    return request.delete(f"ssh-keys/{segment(key)}", nothing)
