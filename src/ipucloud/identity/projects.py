"""Creating, renaming, deleting and reading projects.

The statements return the JSON of the API. Those of a project continue `identity.access.authenticated`; the list stands
alone, because it belongs to no project.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_types.projects import PROJECT_CREATED, PROJECT_DELETED, PROJECT_UPDATED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.lists import NamedOrder
from ipucloud.db.documents import (
    NAMED_PAGE,
    OF_PROJECT,
    ONE_DOCUMENT,
    Document,
    NamedPage,
    OneDocument,
    clauses,
    page_of,
    rfc3339,
)
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.identity.access import PRINCIPAL, authenticated, is_project_id
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import NAME_TAKEN, VALIDATION_FAILED, FieldError, Problem, not_found
from ipucloud.kernel.ids import new_id

_MEMBERS = (
    f"'id', id, 'number', number, 'slug', slug, 'name', name, 'created_at', {rfc3339('created_at')}, 'version', version"
)
_DOCUMENTS = clauses(", documents AS (SELECT place, version, json_build_object(", _MEMBERS, ") AS document FROM page)")
_ONE = """
, page AS (
  SELECT id, number, slug, name, created_at, version, 1 AS place FROM projects
  WHERE id = (SELECT project_id FROM project))
"""
_VISIBLE = """
WHERE deleted_at IS NULL AND EXISTS (SELECT FROM principal WHERE platform OR home = projects.id)
  AND (CAST(:name AS text) IS NULL OR CAST(:name AS text) IN (name, slug))
  AND (CAST(:q AS text) IS NULL OR position(lower(CAST(:q AS text)) IN lower(name)) > 0
       OR position(lower(CAST(:q AS text)) IN slug) > 0)
"""

GET_PROJECT = authenticated(clauses(_ONE, _DOCUMENTS, ONE_DOCUMENT), OneDocument)

LIST_PROJECTS: Mapping[NamedOrder, Query[NamedPage]] = {
    order: Query(
        clauses(
            "WITH",
            PRINCIPAL,
            ", project AS (SELECT home AS project_id FROM principal)",
            page_of("projects", order, _VISIBLE),
            _DOCUMENTS,
            NAMED_PAGE,
        ),
        NamedPage,
    )
    for order in NamedOrder
}
"""The projects that a token has access to; parameters `:token_hash` and `list_parameters` for a `ProjectList`.

`role` is NULL without a live token, `project_id` for a platform token.
"""

_READ = Query(
    clauses(OF_PROJECT, _ONE, _DOCUMENTS, "SELECT document::text AS document, version FROM documents"), Document
)
_CREATE = Query(
    "INSERT INTO projects (id, slug, name) VALUES (:id, :slug, :name) ON CONFLICT (slug) DO NOTHING RETURNING id", UUID
)
_RENAME = sa.text(
    """
    UPDATE projects SET name = :name, version = version + 1
     WHERE id = :id AND (CAST(:if_version AS bigint) IS NULL OR version = :if_version)
    """
)
_LOCK = sa.text("SELECT id FROM projects WHERE id = :id AND deleted_at IS NULL FOR NO KEY UPDATE")
_END = sa.text(
    "UPDATE projects SET deleted_at = app_now(), version = version + 1 WHERE id = :id AND deleted_at IS NULL"
)
_END_TOKENS = sa.text("UPDATE tokens SET revoked_at = app_now() WHERE project_id = :id AND revoked_at IS NULL")


async def project_document(connection: AsyncConnection, project_id: UUID) -> tuple[bytes, int]:
    """A project's JSON and version inside the transaction that changed it."""
    return (await _READ.one(connection, {"project_id": project_id})).encoded()


async def create(connection: AsyncConnection, *, slug: str, name: str, request_id: str) -> UUID:
    """Create a project. A slug is never given again. Raises `Problem` name_taken, validation_failed."""
    if is_project_id(slug):
        fault = FieldError("/slug", "looks_like_an_id", "Choose a slug that cannot be mistaken for an id.")
        raise Problem(VALIDATION_FAILED, "Some values are not valid.", [fault])
    project_id = await _CREATE.one_or_none(connection, {"id": new_id(), "slug": slug, "name": name})
    if project_id is None:
        raise Problem(NAME_TAKEN, "Choose another slug: a slug that was ever used cannot be used again.")
    await _note(connection, Actor(project_id, None, request_id), PROJECT_CREATED)
    return project_id


async def rename(connection: AsyncConnection, actor: Actor, name: str, *, if_version: int | None) -> bool:
    """Rename the project if it still has this version. False when it does not."""
    changed = await connection.execute(_RENAME, {"id": actor.project_id, "name": name, "if_version": if_version})
    if changed.rowcount == 0:
        return False
    await _note(connection, actor, PROJECT_UPDATED)
    return True


async def lock(connection: AsyncConnection, project_id: UUID) -> None:
    """Block other changes of the project's settings until this transaction ends. Raises `Problem` not_found."""
    if (await connection.execute(_LOCK, {"id": project_id})).one_or_none() is None:
        raise not_found()


async def end(connection: AsyncConnection, actor: Actor) -> None:
    """Delete the project and revoke its tokens; its records stay. The caller ensures that it holds no machines.

    Raises `Problem` not_found when another request has just deleted it.
    """
    if (await connection.execute(_END, {"id": actor.project_id})).rowcount == 0:
        raise not_found()
    await connection.execute(_END_TOKENS, {"id": actor.project_id})
    await _note(connection, actor, PROJECT_DELETED)


async def _note(connection: AsyncConnection, actor: Actor, type_: EventType) -> None:
    await record(
        connection,
        type_,
        project_id=actor.project_id,
        subject_id=actor.project_id,
        request_id=actor.request_id,
    )
