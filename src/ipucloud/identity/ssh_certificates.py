"""OpenSSH certificates: an authority signs a person's public key for the servers of one cluster, for a while.

The law: a certificate names one cluster as its only principal, ends by itself, and permits a terminal and the
forwarding of ports, nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

if TYPE_CHECKING:
    import asyncssh

KEY_TYPE = "ssh-ed25519"
EARLIER = timedelta(minutes=1)
"""A certificate is valid from so long before it was signed: clocks of servers may be behind."""


class AuthorityKey(NamedTuple):
    """A new authority's key pair: OpenSSH's texts."""

    public: str
    private: str


@dataclass(frozen=True, slots=True)
class Certified:
    """What a certificate says. `key_id` is what servers write to their log at a login."""

    key_id: str
    serial: int
    cluster_id: UUID
    valid_from: datetime
    valid_until: datetime


def new_authority_key() -> AuthorityKey:
    import asyncssh

    key = asyncssh.generate_private_key(KEY_TYPE)
    return AuthorityKey(public_line(key), key.export_private_key().decode())


def public_line(key: asyncssh.SSHKey) -> str:
    """Type and base64, without a comment."""
    return " ".join(key.export_public_key().decode().split()[:2])


def fingerprint_of(public_key: str) -> str:
    import asyncssh

    return asyncssh.import_public_key(public_key).get_fingerprint("sha256")


def sign(private_key: str, public_key: str, what: Certified) -> str:
    """The certificate's line, as a `-cert.pub` file has it. `public_key` is one that `parse_public_key` accepted."""
    import asyncssh

    certificate = asyncssh.import_private_key(private_key).generate_user_certificate(
        asyncssh.import_public_key(public_key),
        what.key_id,
        serial=what.serial,
        principals=[str(what.cluster_id)],
        valid_after=int(what.valid_from.timestamp()),
        valid_before=int(what.valid_until.timestamp()),
        permit_x11_forwarding=False,
        permit_agent_forwarding=False,
        permit_user_rc=False,
        comment=what.key_id,
    )
    return certificate.export_certificate().decode().strip()


def trusting(authority: str, cluster_id: UUID) -> str:
    """The line of `authorized_keys` by which the servers of a cluster accept the authority's certificates for it."""
    return f'cert-authority,principals="{cluster_id}" {authority}'
