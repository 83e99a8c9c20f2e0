"""SSH keys in the database. Only the re-serialised key is stored; a cluster copies the keys it needs when created."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_types.projects import SSH_KEY_CREATED, SSH_KEY_DELETED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.lists import NamedOrder
from ipucloud.db.documents import (
    NAMED_PAGE,
    OF_NAME,
    ONE_DOCUMENT,
    READ_BACK,
    NamedPage,
    OneDocument,
    clauses,
    page_of,
    rfc3339,
)
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.identity import projects
from ipucloud.identity.access import authenticated
from ipucloud.identity.ssh_keys import SshKeyError, parse_public_key
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import KEY_EXISTS, NAME_TAKEN, SSH_KEY_REFUSED, FieldError, Problem
from ipucloud.kernel.ids import new_id

_MEMBERS = (
    "'id', id, 'name', name, 'type', key_type, 'public_key', public_key, 'fingerprint', fingerprint, "
    f"'created_at', {rfc3339('created_at')}"
)
_DOCUMENTS = clauses(
    ", documents AS (SELECT place, 1 AS version, json_build_object(", _MEMBERS, ") AS document FROM page)"
)
_COLUMNS = "id, name, key_type, public_key, fingerprint, created_at"
_IN_PROJECT = "WHERE project_id = (SELECT project_id FROM project)"

GET_KEY = authenticated(
    clauses(
        ", page AS (SELECT",
        _COLUMNS,
        ", 1 AS place FROM ssh_keys",
        _IN_PROJECT,
        "AND id = :key_id)",
        _DOCUMENTS,
        ONE_DOCUMENT,
    ),
    OneDocument,
)
"""Parameter `:key_id`."""

LIST_KEYS: Mapping[NamedOrder, Query[NamedPage]] = {
    order: authenticated(clauses(page_of("ssh_keys", order, _IN_PROJECT + OF_NAME), _DOCUMENTS, NAMED_PAGE), NamedPage)
    for order in NamedOrder
}
"""Parameters: those of `db.documents.list_parameters` for a `SshKeyList`."""

_CREATE = Query(
    """
    INSERT INTO ssh_keys (id, project_id, name, key_type, public_key, fingerprint)
    VALUES (:id, :project_id, :name, :key_type, :public_key, :fingerprint)
    ON CONFLICT (project_id, name) DO NOTHING RETURNING id
    """,
    UUID,
)
_OTHER_NAME = Query(
    "SELECT name FROM ssh_keys WHERE project_id = :project_id AND public_key = :public_key AND name <> :name LIMIT 1",
    str,
)
_READ = Query(
    clauses(
        "WITH page AS (SELECT",
        _COLUMNS,
        ", 1 AS place FROM ssh_keys WHERE id = :id)",
        _DOCUMENTS,
        READ_BACK,
    ),
    str,
)
_DELETE = Query("DELETE FROM ssh_keys WHERE project_id = :project_id AND id = :id RETURNING id", UUID)


async def add(connection: AsyncConnection, actor: Actor, *, name: str, public_key: str) -> tuple[UUID, str]:
    """Store a key under a name; its id and JSON. Raises `Problem` ssh_key_refused, key_exists, name_taken."""
    try:
        key = parse_public_key(public_key)
    except SshKeyError as refused:
        fault = FieldError("/public_key", refused.code, refused.sentence)
        raise Problem(SSH_KEY_REFUSED, refused.sentence, [fault]) from None
    await projects.lock(connection, actor.project_id)  # or two requests at once may each find no key like theirs
    parameters = {"id": new_id(), "project_id": actor.project_id, "name": name}
    key_columns = {"key_type": key.type, "public_key": key.text, "fingerprint": key.fingerprint}
    same = {"project_id": actor.project_id, "public_key": key.text, "name": name}
    other = await _OTHER_NAME.one_or_none(connection, same)
    if other is not None:
        sentence = f"The project has this key already, as {other}. To give it another name, delete that one first."
        raise Problem(KEY_EXISTS, sentence)
    key_id = await _CREATE.one_or_none(connection, parameters | key_columns)
    if key_id is None:
        raise Problem(NAME_TAKEN, "The project has a key of this name; choose another name, or delete that key first.")
    await _note(connection, actor, SSH_KEY_CREATED, key_id)
    document = await _READ.one(connection, {"id": key_id})
    return key_id, document


async def remove(connection: AsyncConnection, actor: Actor, key_id: UUID) -> bool:
    """Delete the key; servers that already accept it keep it. False when the project has no such key."""
    if await _DELETE.one_or_none(connection, {"project_id": actor.project_id, "id": key_id}) is None:
        return False
    await _note(connection, actor, SSH_KEY_DELETED, key_id)
    return True


async def _note(connection: AsyncConnection, actor: Actor, type_: EventType, key_id: UUID) -> None:
    await record(
        connection,
        type_,
        project_id=actor.project_id,
        subject_id=key_id,
        request_id=actor.request_id,
    )
