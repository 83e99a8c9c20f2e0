"""Tokens of a project: owners create, rotate and revoke them; a secret is shown once."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import orjson
from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer, shown_once
from ipucloud.api.paging import named_list_of
from ipucloud.api.reads import read_one
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import NAMED, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.writes import change
from ipucloud.clusters.choosing import chosen
from ipucloud.contract.tokens import NewTokenOut, TokenCreate, TokenList, TokenOut, TokenPage, TokenRotate
from ipucloud.identity import narrowing, token_ends, token_store
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import Permission, Role
from ipucloud.identity.token_store import NOBODY, Owner
from ipucloud.kernel.errors import STATE_CONFLICT

routes = router()

TokenId = Annotated[UUID, Field(description="Id of the token, or its name if no other active one has it."), NAMED]


@routes.get(
    "/v1/projects/{project}/tokens",
    **operation("listTokens", "List tokens", Permission.TOKEN_READ, gives=TokenPage),
)
async def list_tokens(request: Request, project: ProjectRef, query: TokenList) -> Response:
    """List the project's tokens, including those that ended, unless `active` chooses."""
    return await named_list_of(request, project, token_store.LIST_TOKENS, query)


@routes.post(
    "/v1/projects/{project}/tokens",
    **operation(
        "createToken", "Create a token", Permission.TOKEN_WRITE, gives=NewTokenOut, status=201, description="Created"
    ),
)
async def create_token(request: Request, project: ProjectRef, body: TokenCreate) -> Response:
    """Create a token of the project. Only this response has its secret; a replay has null instead.

    A token that a person creates is theirs, and ends with their membership, unless it is a `service` token. It may do
    all that its role may, or with `scopes` less; a narrowed token creates only tokens within its own scopes. With
    `clusters` it reads and changes these only, and creates no tokens.
    """

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        rights = narrowing.chosen(Role(body.role), body.scopes, body.allowed_sources)
        narrowing.require_within(scope.rights, rights)
        clusters = None if body.clusters is None else await chosen(connection, scope.project_id, body.clusters)
        token = await token_store.create(
            connection,
            env=services_of(request).settings.environment,
            project_id=scope.project_id,
            name=body.name,
            role=rights.role,
            expires_at=body.expires_at,
            created_by=scope.token_id,
            request_id=trace_of(request).request_id,
            cost_limit=body.cost_limit,
            owner=NOBODY if body.service else Owner(of_token=scope.token_id),
            scopes=rights.narrowed_to,
            allowed_sources=rights.sources,
            clusters=clusters,
        )
        return created_token(token, f"/v1/projects/{scope.project_id}/tokens")

    return await change(request, project, effect)


@routes.get(
    "/v1/projects/{project}/tokens/{token:ref}",
    **operation("getToken", "Read a token", Permission.TOKEN_READ, gives=TokenOut),
)
async def get_token(request: Request, project: ProjectRef, token: TokenId) -> Response:
    """Return a token without its secret."""
    document, _ = await read_one(request, token_store.GET_TOKEN, project, token_id=token)
    return Response(document, media_type=JSON)


@routes.delete(
    "/v1/projects/{project}/tokens/{token:ref}",
    **operation("revokeToken", "Revoke a token", Permission.TOKEN_WRITE, status=204, description="Revoked"),
)
async def revoke_token(request: Request, project: ProjectRef, token: TokenId) -> Response:
    """Revoke a token immediately. Repeating has no effect; the token stays in the list."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await token_ends.revoke(connection, _keeper(request, scope), token)
        return Answer(204)

    return await change(request, project, effect)


@routes.post(
    "/v1/projects/{project}/tokens/{token:ref}:rotate",
    **operation(
        "rotateToken",
        "Rotate a token",
        Permission.TOKEN_WRITE,
        gives=NewTokenOut,
        status=201,
        description="Created",
        errors=(STATE_CONFLICT,),
    ),
)
async def rotate_token(request: Request, project: ProjectRef, token: TokenId, body: TokenRotate) -> Response:
    """Create a token with the same name, role, scopes, allowed sources and clusters, and revoke this one, immediately
    or after an overlap.

    If a token rotates itself, keep it valid for some seconds: repeating a request whose response was lost needs a valid
    token. The replayed response has null instead of the secret.
    """

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        successor = await token_ends.rotate(
            connection, _keeper(request, scope), token, body, env=services_of(request).settings.environment
        )
        return created_token(successor, f"/v1/projects/{scope.project_id}/tokens")

    return await change(request, project, effect)


def created_token(token: token_store.MadeToken, path: str) -> Answer:
    """201 with the secret; `path` is the list's path."""
    headers = {"Location": f"{path}/{token.id}"}
    return shown_once(201, orjson.loads(token.document), {"token": token.secret}, headers, token.id)


def _keeper(request: Request, scope: Scope) -> token_ends.Keeper:
    return token_ends.Keeper(scope.project_id, scope.token_id, trace_of(request).request_id, scope.rights)
