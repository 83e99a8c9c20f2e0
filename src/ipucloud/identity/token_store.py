"""Tokens in the database: creating, listing and describing them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.projects import TokenMade
from ipucloud.contract.event_types.projects import TOKEN_CREATED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.lists import NamedOrder
from ipucloud.db.documents import (
    NAMED_PAGE,
    ONE_DOCUMENT,
    READ_BACK,
    NamedPage,
    OneDocument,
    clauses,
    money,
    page_of,
    rfc3339,
)
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.identity.access import PRINCIPAL, authenticated, unauthenticated
from ipucloud.identity.roles import Role, scopes_of
from ipucloud.identity.tokens import TokenKind, new_token
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import VALIDATION_FAILED, FieldError, Problem
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money

_OF_ROLE = " ".join(f"WHEN '{role}' THEN ARRAY{sorted(map(str, scopes_of(role)))}" for role in Role)
_SCOPES = f"""
(SELECT coalesce(json_agg(scope ORDER BY scope COLLATE "C"), '[]')
   FROM unnest(CASE role {_OF_ROLE} END) AS scope WHERE scopes IS NULL OR scope = ANY(scopes))
"""  # noqa: S608  # our own text
_MEMBERS = f"""
'id', id, 'name', name, 'role', role,
'scopes', {_SCOPES}, 'narrowed', scopes IS NOT NULL, 'allowed_sources', allowed_sources,
'clusters', CASE WHEN clusters IS NOT NULL THEN
  (SELECT json_agg(json_build_object('id', its.id, 'name', its.name, 'deleted', its.deleted) ORDER BY its.name, its.id)
     FROM clusters_of(project_id, clusters) AS its) END,
'display_prefix', display_prefix, 'created_by', created_by,
'created_at', {rfc3339("created_at")}, 'expires_at', {rfc3339("expires_at")},
'revoked_at', {rfc3339("revoked_at")}, 'last_used_at', {rfc3339("last_used_at")}, 'account_id', account_id,
'kind', kind, 'owner', (SELECT email FROM users WHERE users.id = owner_id),
'cost_limit', {money("cost_limit", "cost_currency")},
'cost', {money("CASE WHEN cost_limit IS NOT NULL THEN token_cost(project_id, id) END", "cost_currency")}
"""  # noqa: S608  # our own text
_DOCUMENTS = clauses(
    ", documents AS (SELECT place, 1 AS version, json_build_object(", _MEMBERS, ") AS document FROM page)"
)
_COLUMNS = (
    "id, name, role, display_prefix, created_by, created_at, expires_at, revoked_at, last_used_at, account_id,"
    " kind, owner_id, project_id, cost_limit, cost_currency, scopes, allowed_sources,"
    " clusters"
)
_IN_PROJECT = "WHERE project_id = (SELECT project_id FROM project) AND kind <> 'member'"

_OF_ACTIVITY = """
AND (CAST(:active AS boolean) IS NULL OR
     (revoked_at IS NULL AND (expires_at IS NULL OR expires_at > app_now())) = CAST(:active AS boolean))
"""

GET_TOKEN = authenticated(
    clauses(
        ", page AS (SELECT",
        _COLUMNS,
        ", 1 AS place FROM tokens",
        _IN_PROJECT,
        "AND id = :token_id)",
        _DOCUMENTS,
        ONE_DOCUMENT,
    ),
    OneDocument,
)
"""Parameter `:token_id`."""

LIST_TOKENS: Mapping[NamedOrder, Query[NamedPage]] = {
    order: authenticated(
        clauses(page_of("tokens", order, clauses(_IN_PROJECT, _OF_ACTIVITY)), _DOCUMENTS, NAMED_PAGE), NamedPage
    )
    for order in NamedOrder
}
"""Tokens; parameters from `db.documents.list_parameters`. `:active` true: those that work now; false: the others."""

_OF_PLATFORM = (
    "WHERE project_id IS NULL AND kind <> 'member'"  # those of billing accounts too: administrators keep them
)
_NO_PROJECT = clauses("WITH", PRINCIPAL, ", project AS (SELECT CAST(NULL AS uuid) AS project_id)")

GET_PLATFORM_TOKEN = Query(
    clauses(
        _NO_PROJECT,
        ", page AS (SELECT",
        _COLUMNS,
        ", 1 AS place FROM tokens",
        _OF_PLATFORM,
        "AND id = :token_id)",
        _DOCUMENTS,
        ONE_DOCUMENT,
    ),
    OneDocument,
)
"""As `GET_TOKEN`, for a token of the platform; `project_id` is NULL."""

LIST_PLATFORM_TOKENS: Mapping[NamedOrder, Query[NamedPage]] = {
    order: Query(
        clauses(_NO_PROJECT, page_of("tokens", order, clauses(_OF_PLATFORM, _OF_ACTIVITY)), _DOCUMENTS, NAMED_PAGE),
        NamedPage,
    )
    for order in NamedOrder
}
"""As `LIST_TOKENS`, for the platform's tokens; `project_id` is NULL."""

_PROJECT_MEMBERS = f"""
'id', projects.id, 'number', projects.number, 'slug', projects.slug, 'name', projects.name,
'created_at', {rfc3339("projects.created_at")}, 'version', projects.version
"""


TOKEN_OF_PRINCIPAL = clauses(
    ", page AS (SELECT", _COLUMNS, ", 1 AS place FROM tokens WHERE id = (SELECT token_id FROM principal))", _DOCUMENTS
)
"""CTEs after `PRINCIPAL` that end with `documents`: the caller's token as JSON."""

TOKEN_PROJECT = clauses(
    "CASE WHEN projects.id IS NOT NULL THEN json_build_object(", _PROJECT_MEMBERS, ")::text END AS project"
)
"""The JSON of a project that is joined as `projects`."""


class Whoami(NamedTuple):
    """What a live token can read about itself; `token` and `project` are JSON."""

    rights: str
    token_id: UUID
    home: UUID | None
    token: str
    project: str | None


WHOAMI = Query(
    clauses(
        "WITH",
        PRINCIPAL,
        TOKEN_OF_PRINCIPAL,
        "SELECT principal.rights, principal.token_id, principal.home, documents.document::text AS token,",
        TOKEN_PROJECT,
        "FROM principal CROSS JOIN documents LEFT JOIN projects ON projects.id = principal.home",
    ),
    Whoami,
)

_CREATE = sa.text(
    """
    INSERT INTO tokens (id, project_id, account_id, name, role, display_prefix, secret_hash, created_by, expires_at,
                        kind, owner_id, cost_limit, cost_currency, scopes, allowed_sources, clusters)
    SELECT :id, :project_id, :account_id, :name, :role, :display_prefix, :secret_hash, :created_by,
           coalesce(CAST(:expires_at AS timestamptz), app_now() + make_interval(secs => CAST(:seconds AS float8))),
           CASE WHEN owner.id IS NULL THEN 'service' ELSE :kind END, owner.id,
           CAST(:cost_limit AS numeric), CAST(:cost_currency AS text), CAST(:scopes AS text[]),
           CAST(:allowed_sources AS text[]), CAST(:clusters AS uuid[])
      FROM (SELECT coalesce(CAST(:user_id AS uuid), (SELECT owner_id FROM tokens WHERE id = :of_token)) AS id) AS owner
     WHERE CAST(:expires_at AS timestamptz) IS NULL OR CAST(:expires_at AS timestamptz) > app_now()
    """
)
_OWNER_ACTIVE = Query(
    """
    SELECT deactivated_at IS NULL FROM users
     WHERE id = coalesce(CAST(:user_id AS uuid), (SELECT owner_id FROM tokens WHERE id = :of_token)) FOR SHARE
    """,
    bool,
)
_LIVING = Query("SELECT revoked_at IS NULL FROM tokens WHERE id = :of_token", bool)
_READ = Query(
    clauses(
        "WITH page AS (SELECT",
        _COLUMNS,
        ", 1 AS place FROM tokens WHERE id = :id)",
        _DOCUMENTS.lstrip(),
        READ_BACK,
    ),
    str,
)
_TOUCH = sa.text(
    """
    WITH signed_in AS (
      UPDATE browser_sessions SET idle_until = app_now() + make_interval(secs => :idle)
       WHERE secret_hash = ANY(:hashes) AND idle_until > app_now() RETURNING token_id)
    UPDATE tokens SET last_used_at = app_now()
     WHERE (secret_hash = ANY(:hashes) OR id IN (SELECT token_id FROM signed_in))
       AND (last_used_at IS NULL OR last_used_at < app_now() - interval '1 hour')
    """
)


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a new token is: of the person `user_id`, or whose the token `of_token` is.

    It is of the `kind`, or a service token if that is nobody's.
    """

    user_id: UUID | None = None
    of_token: UUID | None = None
    kind: TokenKind = TokenKind.PERSONAL


NOBODY = Owner()


@dataclass(frozen=True, slots=True)
class MadeToken:
    """A new token. `secret` is returned here only; `document` is the rest as JSON."""

    id: UUID
    secret: str
    document: str


async def create(
    connection: AsyncConnection,
    *,
    env: str,
    project_id: UUID | None,
    name: str,
    role: Role,
    expires_at: datetime | None = None,
    created_by: UUID | None = None,
    request_id: str | None = None,
    account_id: UUID | None = None,
    seconds: float | None = None,
    owner: Owner = NOBODY,
    cost_limit: Money | None = None,
    scopes: Collection[str] | None = None,
    allowed_sources: Sequence[str] = (),
    clusters: Collection[UUID] | None = None,
) -> MadeToken:
    """Create a token of a project, or of a billing account with the role `payer`, or else of the platform.

    It expires at `expires_at` or after `seconds`; with neither never. `cost_limit`: of what it begins, for the role
    `operator` only. `scopes`: those that it is narrowed to. `allowed_sources`: networks from which it may be used.
    `clusters`: those of the project that it is limited to. Raises `Problem` validation_failed when it would already
    have expired, unauthenticated when its owner was deactivated, or lost all access, meanwhile.
    """
    if owner != NOBODY:
        await _require_active_owner(connection, owner)
    secret = new_token(env)
    token_id = new_id()
    stored = await connection.execute(
        _CREATE,
        {
            "id": token_id,
            "project_id": project_id,
            "account_id": account_id,
            "name": name,
            "role": role.value,
            "display_prefix": secret.display_prefix,
            "secret_hash": secret.hash,
            "created_by": created_by,
            "expires_at": expires_at,
            "seconds": seconds,
            "user_id": owner.user_id,
            "of_token": owner.of_token,
            "kind": owner.kind.value,
            "cost_limit": None if cost_limit is None else cost_limit.amount,
            "cost_currency": None if cost_limit is None else cost_limit.currency,
            "scopes": None if scopes is None else sorted(scopes),
            "allowed_sources": [*allowed_sources],
            "clusters": None if clusters is None else sorted(clusters),
        },
    )
    if stored.rowcount == 0:
        fault = FieldError("/expires_at", "not_in_future", "Choose an instant in the future.")
        raise Problem(VALIDATION_FAILED, "Some values are not valid.", [fault])
    if project_id is not None:
        narrowed_to = None if scopes is None else sorted(scopes)
        data = TokenMade(
            name=name,
            role=role,
            scopes=narrowed_to,
            allowed_sources=[*allowed_sources],
            clusters=None if clusters is None else sorted(clusters),
        )
        await record_token(connection, Actor(project_id, created_by, request_id or ""), TOKEN_CREATED, token_id, data)
    document = await _READ.one(connection, {"id": token_id})
    return MadeToken(token_id, secret.secret, document)


async def _require_active_owner(connection: AsyncConnection, owner: Owner) -> None:
    """Whose sessions and tokens just ended gets no other: the request had its rights only until then."""
    active = await _OWNER_ACTIVE.one_or_none(connection, {"user_id": owner.user_id, "of_token": owner.of_token})
    if active is None:
        return
    living = owner.of_token is None or await _LIVING.one(connection, {"of_token": owner.of_token})
    if not active or not living:
        raise unauthenticated()


async def touch(connection: AsyncConnection, hashes: list[bytes], idle: float) -> None:
    """Record the last use of tokens, to the hour, and of browser sessions, which end after `idle` seconds without."""
    await connection.execute(_TOUCH, {"hashes": hashes, "idle": idle})


async def record_token(
    connection: AsyncConnection,
    actor: Actor,
    type_: EventType,
    token_id: UUID,
    data: BaseModel | None = None,
) -> None:
    """Append an event about a token of the actor's project."""
    await record(
        connection,
        type_,
        project_id=actor.project_id,
        subject_id=token_id,
        request_id=actor.request_id,
        data=data,
    )
