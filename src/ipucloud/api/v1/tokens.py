"""Tokens of a project: an owner makes, replaces and revokes them; a secret is shown once."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import orjson
from fastapi import Path, Query
from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import Listed, page
from ipucloud.api.reads import read, read_one
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import Page, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.writes import change
from ipucloud.clusters.models import Body, Instant
from ipucloud.db.documents import after
from ipucloud.identity import token_ends, token_store
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import Permission, Role
from ipucloud.kernel.errors import STATE_CONFLICT

routes = router()

TokenId = Annotated[UUID, Path(description="the token's id")]


class TokenOut(BaseModel):
    """A token without its secret."""

    id: UUID
    name: str
    role: str = Field(examples=["operator"])
    display_prefix: str = Field(description="how the secret begins, to tell tokens apart")
    created_by: UUID | None = Field(description="the token it was made with")
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="to the hour")


class NewTokenOut(TokenOut):
    """A token just made."""

    token: str | None = Field(description="the secret, shown this once; null in a replay of the answer")


class TokenPage(Page[TokenOut]):
    pass


TokenName = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f]+$", examples=["ci"])]


class TokenCreate(Body):
    name: TokenName
    role: Literal["viewer", "operator", "billing", "owner"]
    expires_at: Instant | None = Field(None, description="null: it does not expire")


class TokenRotate(Body):
    """How to replace a token."""

    keep_previous_seconds: int = Field(0, ge=0, le=604_800, description="for so long the replaced token works, too")
    expires_at: Instant | None = Field(None, description="null: when the replaced one would have expired, if ever")

    def rotation(self) -> token_ends.Rotation:
        return token_ends.Rotation(self.keep_previous_seconds, self.expires_at)


@routes.get(
    "/v1/projects/{project}/tokens",
    **operation("listTokens", "List tokens", Permission.TOKEN_READ, gives=TokenPage),
)
async def list_tokens(request: Request, project: ProjectRef, query: Annotated[Listed, Query()]) -> Response:
    """Every token the project ever had, revoked ones too."""
    parameters = after(query.behind(request), query.order, query.limit)
    return page(query, request, await read(request, token_store.LIST_TOKENS[query.order], project, **parameters))


@routes.post(
    "/v1/projects/{project}/tokens",
    **operation(
        "createToken", "Create a token", Permission.TOKEN_WRITE, gives=NewTokenOut, status=201, description="Created"
    ),
)
async def create_token(request: Request, project: ProjectRef, body: TokenCreate) -> Response:
    """Make a token of the project. Its secret is in this answer only: a replay of it has null in its place."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        made = await token_store.create(
            connection,
            env=services_of(request).settings.environment,
            project_id=scope.project_id,
            name=body.name,
            role=Role(body.role),
            expires_at=body.expires_at,
            created_by=scope.token_id,
            request_id=trace_of(request).request_id,
        )
        return told_once(made, f"/v1/projects/{scope.project_id}/tokens")

    return await change(request, project, effect)


@routes.get(
    "/v1/projects/{project}/tokens/{token:uuid}",
    **operation("getToken", "Read a token", Permission.TOKEN_READ, gives=TokenOut),
)
async def get_token(request: Request, project: ProjectRef, token: TokenId) -> Response:
    """One token, without its secret."""
    document, _ = await read_one(request, token_store.GET_TOKEN, project, token_id=token)
    return Response(document, media_type=JSON)


@routes.delete(
    "/v1/projects/{project}/tokens/{token:uuid}",
    **operation("revokeToken", "Revoke a token", Permission.TOKEN_WRITE, status=204, description="Revoked"),
)
async def revoke_token(request: Request, project: ProjectRef, token: TokenId) -> Response:
    """End a token at once. Asking again changes nothing; the token stays in the list."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await token_ends.revoke(connection, _keeper(request, scope), token)
        return Answer(204)

    return await change(request, project, effect)


@routes.post(
    "/v1/projects/{project}/tokens/{token:uuid}:rotate",
    **operation(
        "rotateToken",
        "Replace a token",
        Permission.TOKEN_WRITE,
        gives=NewTokenOut,
        status=201,
        description="Created",
        errors=(STATE_CONFLICT,),
    ),
)
async def rotate_token(request: Request, project: ProjectRef, token: TokenId, body: TokenRotate) -> Response:
    """Make a token with the same name and role, and end this one: at once, or after a while in which both work.

    Give the token that asks some seconds when it rotates itself: an answer that was lost can be asked for again only
    with a token that works, and has null in the place of the secret.
    """

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        made = await token_ends.rotate(
            connection, _keeper(request, scope), token, body.rotation(), env=services_of(request).settings.environment
        )
        return told_once(made, f"/v1/projects/{scope.project_id}/tokens")

    return await change(request, project, effect)


def told_once(made: token_store.MadeToken, path: str) -> Answer:
    """201 with the secret, which a replay leaves out; `path` is that of the list."""
    known = orjson.loads(made.document)
    return Answer(
        201,
        orjson.dumps(known | {"token": made.secret}),
        {"Location": f"{path}/{made.id}"},
        subject_id=made.id,
        replay=orjson.dumps(known | {"token": None}),
    )


def _keeper(request: Request, scope: Scope) -> token_ends.Keeper:
    return token_ends.Keeper(scope.project_id, scope.token_id, trace_of(request).request_id)
