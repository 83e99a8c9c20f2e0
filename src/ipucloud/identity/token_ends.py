"""The end of tokens: revocation, or rotation to a new token with the same name, role, scopes, sources and clusters.

The law: no request shortens the time for which the platform has an administrator, with a token that was not narrowed.
Without one, only an operator with access to the database could create another.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.projects import TokenReplaced
from ipucloud.contract.event_types.projects import TOKEN_REVOKED, TOKEN_ROTATED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.tokens import TokenRotate
from ipucloud.db.rows import Query
from ipucloud.identity.narrowing import require_within
from ipucloud.identity.roles import Rights, Role
from ipucloud.identity.token_store import MadeToken, Owner, create, record_token
from ipucloud.identity.tokens import TokenKind
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import LAST_ADMINISTRATOR, PERMISSION_DENIED, STATE_CONFLICT, Problem, not_found


class _Token(NamedTuple):
    id: UUID
    name: str
    role: Role
    expires_at: datetime | None
    account_id: UUID | None
    kind: TokenKind
    is_own: bool
    ended: bool
    limited: bool
    scopes: list[str] | None
    allowed_sources: list[str]
    clusters: list[UUID] | None


class _Administrator(NamedTuple):
    id: UUID
    expires_at: datetime | None


_ADMINISTRATORS = Query(
    """
    SELECT id, expires_at FROM tokens
     WHERE project_id IS NULL AND role = :role AND revoked_at IS NULL AND scopes IS NULL
       AND (expires_at IS NULL OR expires_at > app_now())
     ORDER BY id FOR UPDATE
    """,
    _Administrator,
)
_LOCK = Query(
    """
    SELECT id, name, role, expires_at, account_id, kind,
           owner_id IS NOT DISTINCT FROM (SELECT owner_id FROM tokens AS keeper WHERE keeper.id = :keeper) AS is_own,
           revoked_at IS NOT NULL OR coalesce(expires_at <= app_now(), false) AS ended,
           cost_limit IS NOT NULL AS limited, scopes, allowed_sources, clusters
      FROM tokens
     WHERE project_id IS NOT DISTINCT FROM CAST(:project_id AS uuid) AND id = :id AND kind <> 'member' FOR UPDATE
    """,
    _Token,
)
_REVOKE = sa.text("UPDATE tokens SET revoked_at = app_now() WHERE id = :id AND revoked_at IS NULL RETURNING id")
_END_LATER = sa.text(
    """
    UPDATE tokens SET expires_at = least(expires_at, app_now() + make_interval(secs => :seconds)) WHERE id = :id
    """
)
_END_WITH_CLUSTERS = sa.text(
    """
    UPDATE tokens SET expires_at = least(expires_at, app_now() + make_interval(secs => :seconds))
     WHERE project_id = :project_id AND clusters IS NOT NULL AND :cluster_id = ANY (clusters)
       AND NOT EXISTS (SELECT FROM clusters_of(project_id, clusters) AS its WHERE NOT its.deleted)
    """
)
SECONDS_AFTER_CLUSTERS = 3600.0
"""How long a token still reads how its last cluster was deleted."""
_FOR_EVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Keeper:
    """Who manages tokens, with which rights: `home` is the project they belong to, None for the platform's."""

    home: UUID | None
    token_id: UUID
    request_id: str
    rights: Rights

    async def note(
        self, connection: AsyncConnection, type_: EventType, token_id: UUID, data: BaseModel | None = None
    ) -> None:
        """Append an event; the platform has no event log."""
        if self.home is not None:
            await record_token(connection, Actor(self.home, self.token_id, self.request_id), type_, token_id, data)


async def revoke(connection: AsyncConnection, keeper: Keeper, token_id: UUID) -> None:
    """Revoke the token; it is rejected from the commit on. A token that is already revoked stays as it is.

    Raises `Problem` not_found, last_administrator.
    """
    token, administrators = await _locked(connection, keeper, token_id)
    _keep_an_administrator(token, administrators, None)
    if (await connection.execute(_REVOKE, {"id": token_id})).scalar_one_or_none() is not None:
        await keeper.note(connection, TOKEN_REVOKED, token_id)


async def rotate(
    connection: AsyncConnection, keeper: Keeper, token_id: UUID, rotation: TokenRotate, *, env: str
) -> MadeToken:
    """Create a token with this one's name, role and scopes; this one ends now or later.

    Raises `Problem` not_found, state_conflict for a token that has ended, is of a login or has a cost limit,
    permission_denied for another person's and for one that may do more than the keeper's, last_administrator, and
    validation_failed when the new one would already have expired.
    """
    token, administrators = await _locked(connection, keeper, token_id)
    if token.ended:
        raise Problem(STATE_CONFLICT, "The token has expired or was revoked: create another instead.")
    if token.kind is TokenKind.LOGIN:
        raise Problem(STATE_CONFLICT, "A token of `ipucloud login` is not rotated: log in again instead.")
    if token.limited:
        raise Problem(
            STATE_CONFLICT, "A token with a cost limit is not rotated: create another with a limit of its own."
        )
    if token.kind is TokenKind.PERSONAL and not token.is_own:
        raise Problem(PERMISSION_DENIED, "Only its owner rotates a personal token. You may revoke it.")
    narrowed_to = None if token.scopes is None else frozenset(token.scopes)
    require_within(keeper.rights, Rights(token.role, narrowed_to, tuple(token.allowed_sources)))
    expires_at = rotation.expires_at or token.expires_at
    _keep_an_administrator(token, administrators, expires_at or _FOR_EVER)
    successor = await create(
        connection,
        env=env,
        project_id=keeper.home,
        name=token.name,
        role=token.role,
        expires_at=expires_at,
        created_by=keeper.token_id,
        request_id=keeper.request_id,
        account_id=token.account_id,
        owner=Owner(of_token=token.id),
        scopes=narrowed_to,
        allowed_sources=token.allowed_sources,
        clusters=token.clusters,
    )
    if rotation.keep_previous_seconds:
        await connection.execute(_END_LATER, {"id": token_id, "seconds": rotation.keep_previous_seconds})
    else:
        await connection.execute(_REVOKE, {"id": token_id})
    await keeper.note(connection, TOKEN_ROTATED, token_id, TokenReplaced(replaced_by=successor.id))
    return successor


async def end_with_clusters(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> None:
    """Let the tokens expire in an hour that are limited to a cluster just deleted, and to no other that is not."""
    values = {"project_id": project_id, "cluster_id": cluster_id, "seconds": SECONDS_AFTER_CLUSTERS}
    await connection.execute(_END_WITH_CLUSTERS, values)


async def _locked(connection: AsyncConnection, keeper: Keeper, token_id: UUID) -> tuple[_Token, dict[UUID, datetime]]:
    """The token, and when each live administrator's token expires; all are locked until the commit."""
    administrators = {}
    if keeper.home is None:
        rows = await _ADMINISTRATORS.all(connection, {"role": Role.ADMIN.value})
        administrators = {id_: expires_at or _FOR_EVER for id_, expires_at in rows}
    token = await _LOCK.one_or_none(connection, {"project_id": keeper.home, "id": token_id, "keeper": keeper.token_id})
    if token is None:
        raise not_found()
    return token, administrators


def _keep_an_administrator(
    token: _Token, administrators: dict[UUID, datetime], successor_until: datetime | None
) -> None:
    """Raise `Problem` last_administrator if no other administrator's token, or its successor, lives as long."""
    until = administrators.pop(token.id, None)
    lasting = [*administrators.values(), successor_until]
    if until is not None and not any(instant is not None and instant >= until for instant in lasting):
        raise Problem(
            LAST_ADMINISTRATOR,
            "No other administrator's token lives as long as this one. Create one that does first, or rotate this one "
            "without an earlier `expires_at`.",
        )
