"""SSH certificate authorities in the database: a project has one, from its first cluster on, until it is rotated.

The law: the private key is stored encrypted, leaves this module only to sign, and is removed when the authority ends.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.projects import SshAuthorityOf
from ipucloud.contract.event_types.projects import SSH_AUTHORITY_ROTATED
from ipucloud.db.documents import Fragment
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.identity.ssh_certificates import fingerprint_of, new_authority_key
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.sealing import Keys, place, seal

CURRENT_AUTHORITY = Fragment(
    "(SELECT public_key FROM ssh_authorities WHERE project_id = :project_id AND ended_at IS NULL)"
)
"""An expression: the public key of the project's authority, or NULL."""

OUTDATED = Fragment(
    """
    SELECT project_id, public_key FROM ssh_authorities AS present
     WHERE ended_at IS NULL AND EXISTS (SELECT FROM ssh_authorities AS former
                                         WHERE former.project_id = present.project_id AND former.ended_at IS NOT NULL)
    """
)
"""A query: the authorities that were made by a rotation."""
FINGERPRINT = "'SHA256:' || rtrim(encode(sha256(decode(split_part(a.public_key, ' ', 2), 'base64')), 'base64'), '=')"
AUTHORITY_MEMBERS = Fragment(f"'id', a.id, 'public_key', a.public_key, 'fingerprint', {FINGERPRINT}")
"""Members of a document, of the authority `a`."""


class Authority(NamedTuple):
    """An authority that signs. `private_key` is encrypted for its `secret_place`."""

    id: UUID
    public_key: str
    private_key: str
    created_at: datetime


_CURRENT = Query(
    "SELECT id, public_key, private_key, created_at FROM ssh_authorities"
    " WHERE project_id = :project_id AND ended_at IS NULL",
    Authority,
)
_ADD = Query(
    """
    INSERT INTO ssh_authorities (id, project_id, public_key, private_key)
    VALUES (:id, :project_id, :public_key, :private_key)
    ON CONFLICT (project_id) WHERE ended_at IS NULL DO NOTHING
    RETURNING id, public_key, private_key, created_at
    """,
    Authority,
)
_NEXT_SERIAL = Query(
    "UPDATE ssh_authorities SET serial = serial + 1 WHERE id = :id AND ended_at IS NULL RETURNING serial", int
)
_LOCK_PROJECT = Query("SELECT id FROM projects WHERE id = :project_id FOR NO KEY UPDATE", UUID)
_END = Query(
    """
    UPDATE ssh_authorities SET ended_at = app_now(), private_key = NULL
     WHERE project_id = :project_id AND ended_at IS NULL RETURNING public_key
    """,
    str,
)


def secret_place(authority: UUID, project: UUID) -> str:
    """What the encrypted private key is bound to."""
    return place("ssh_authorities", authority, "private_key", project)


async def current(connection: AsyncConnection, project_id: UUID) -> Authority | None:
    return await _CURRENT.one_or_none(connection, {"project_id": project_id})


async def ensure(connection: AsyncConnection, project_id: UUID, keys: Keys | None) -> str | None:
    """Make the authority of a project that had none; its public key. None without a key to encrypt with."""
    if keys is None:
        return None
    authority = await _add(connection, project_id, keys) or await current(connection, project_id)
    return None if authority is None else authority.public_key


async def next_serial(connection: AsyncConnection, authority: UUID) -> int | None:
    """The number of its next certificate; None: it has ended."""
    return await _NEXT_SERIAL.one_or_none(connection, {"id": authority})


async def rotate(connection: AsyncConnection, actor: Actor, keys: Keys) -> Authority:
    """End the project's authority and make another; workers bring it to servers (`policies/authority_rollout.py`)."""
    values = {"project_id": actor.project_id}
    await _LOCK_PROJECT.one(connection, values)
    former = await _END.one_or_none(connection, values)
    authority = await _add(connection, actor.project_id, keys)
    if authority is None:
        raise RuntimeError("a project has two authorities")
    await record(
        connection,
        SSH_AUTHORITY_ROTATED,
        project_id=actor.project_id,
        subject_id=authority.id,
        request_id=actor.request_id,
        data=SshAuthorityOf(
            fingerprint=fingerprint_of(authority.public_key), former=None if former is None else fingerprint_of(former)
        ),
    )
    return authority


async def _add(connection: AsyncConnection, project_id: UUID, keys: Keys) -> Authority | None:
    pair, authority_id = new_authority_key(), new_id()
    values = {"id": authority_id, "project_id": project_id, "public_key": pair.public}
    sealed = seal(keys, pair.private, secret_place(authority_id, project_id))
    return await _ADD.one_or_none(connection, values | {"private_key": sealed})
