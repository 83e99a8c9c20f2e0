"""SSH keys of a project."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, KeyName
from ipucloud.contract.lists import Page

LONGEST_KEY = 8192
"""Characters of a line; an RSA key of 16,384 bits takes 2,800."""


class SshKeyOut(Answer):
    """A public key as written to servers: type and base64, without comment."""

    id: UUID
    name: str
    type: str = Field(examples=["ssh-ed25519"])
    public_key: str
    fingerprint: str = Field(examples=["SHA256:w2Zc…"])
    created_at: datetime


class SshKeyPage(Page[SshKeyOut]):
    pass


class SshKeyCreate(Body):
    """A public key, for the clusters that will be created with it."""

    name: KeyName = Field(examples=["laptop"])
    public_key: str = Field(
        max_length=LONGEST_KEY,
        pattern=r"^[^\x00]*$",
        description="One line in OpenSSH format, as in id_ed25519.pub; Ed25519, ECDSA, or RSA of at least 3072 bits.",
        examples=["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGsLsPG0tEBYgAJSQm/bNPNAkrF3HXFGDWmMvVWOWcU1 laptop"],
    )
