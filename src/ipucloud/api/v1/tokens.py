"""Tokens of a project: an owner makes and revokes them; a secret is shown once."""

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
from ipucloud.api.writes import actor, change
from ipucloud.clusters.models import Body, Instant
from ipucloud.db.documents import after
from ipucloud.identity import token_store
from ipucloud.identity.access import Scope, not_found
from ipucloud.identity.roles import Permission, Role

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


class TokenCreate(Body):
    name: str = Field(min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f]+$", examples=["ci"])
    role: Literal["viewer", "operator", "billing", "owner"]
    expires_at: Instant | None = Field(None, description="null: it does not expire")


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
        known = orjson.loads(made.document)
        location = f"/v1/projects/{scope.project_id}/tokens/{made.id}"
        return Answer(
            201,
            orjson.dumps(known | {"token": made.secret}),
            {"Location": location},
            subject_id=made.id,
            replay=orjson.dumps(known | {"token": None}),
        )

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
        if not await token_store.revoke(connection, actor(request, scope), token):
            raise not_found()
        return Answer(204)

    return await change(request, project, effect)
