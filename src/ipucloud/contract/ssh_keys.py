"""SSH keys of a project."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, KeyName
from ipucloud.contract.lists import FoundByName, NamedListed, Page

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


class SshKeyList(NamedListed, FoundByName):
    """SSH keys that match every filter."""


class SshKeyCreate(Body):
    """A public key, for the clusters that will be created with it."""

    name: KeyName = Field(examples=["laptop"])
    public_key: str = Field(
        max_length=LONGEST_KEY,
        pattern=r"^[^\x00]*$",
        description="One line in OpenSSH format, as in id_ed25519.pub; Ed25519, ECDSA, or RSA of at least 3072 bits.",
        examples=["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGsLsPG0tEBYgAJSQm/bNPNAkrF3HXFGDWmMvVWOWcU1 laptop"],
    )


class SshCertificateRequest(Body):
    """A key to certify, for one cluster."""

    public_key: str = Field(
        max_length=LONGEST_KEY,
        pattern=r"^[^\x00]*$",
        description="One line in OpenSSH format, as in id_ed25519.pub. Its private key stays with you.",
        examples=["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGsLsPG0tEBYgAJSQm/bNPNAkrF3HXFGDWmMvVWOWcU1"],
    )
    valid_seconds: int | None = Field(
        None,
        ge=60,
        le=86_400,
        description="How long it is to be valid; the installation may allow less than a day. Null: an hour, unless the"
        " installation has another usual time.",
        examples=[3600],
    )


class SshCertificateOut(Answer):
    """A certificate, with which the private key of the public one logs in to the servers of the cluster."""

    certificate: str = Field(description="One line, for a file whose name ends in -cert.pub.")
    key_id: str = Field(description="What servers write to their log at a login with it.")
    serial: int = Field(description="Its number among those of the authority.")
    fingerprint: str = Field(description="Of the certified key.")
    authority: str = Field(description="Fingerprint of the authority that signed it.")
    valid_from: datetime = Field(description="A minute before it was issued.")
    valid_until: datetime = Field(
        description="No login with it after that; sessions that are open stay open. Not after the end of your token."
    )


class SshAuthorityOut(Answer):
    """What signs the SSH certificates of a project's members. Its private key is shown to nobody."""

    id: UUID
    public_key: str
    fingerprint: str
    created_at: datetime
    pending_clusters: list[str] = Field(
        description="Names of clusters, 100 at most, whose servers were not all seen yet to accept certificates of this"
        " authority and of no other. Suspended ones learn of it when they are resumed."
    )
