"""Tokens of the platform and of billing accounts: administrators create, rotate and revoke them; support lists them."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import named_behind, named_page
from ipucloud.api.problems import invalid
from ipucloud.api.reads import read_platform
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.tokens import TokenId, created_token
from ipucloud.api.writes import change_platform
from ipucloud.billing.accounts.store import account_exists
from ipucloud.contract.tokens import NewTokenOut, PlatformTokenCreate, TokenList, TokenOut, TokenPage, TokenRotate
from ipucloud.db.documents import list_parameters
from ipucloud.identity import narrowing, token_ends, token_store
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission, Role
from ipucloud.kernel.errors import LAST_ADMINISTRATOR, STATE_CONFLICT, FieldError, not_found

routes = router()

_ALL = "/v1/tokens"
_ONE = "/v1/tokens/{token:ref}"


@routes.get(_ALL, **operation("listPlatformTokens", "List platform tokens", Permission.PLATFORM_READ, gives=TokenPage))
async def list_platform_tokens(request: Request, query: TokenList) -> Response:
    """List the tokens of the platform and of billing accounts, including those that ended, unless `active` chooses."""
    parameters = list_parameters(query, named_behind(query, request))
    row = await read_platform(request, token_store.LIST_PLATFORM_TOKENS[query.order], **parameters)
    return named_page(query, request, row)


@routes.post(
    _ALL,
    **operation(
        "createPlatformToken",
        "Create a platform token",
        Permission.PLATFORM_WRITE,
        gives=NewTokenOut,
        status=201,
        description="Created",
    ),
)
async def create_platform_token(request: Request, body: PlatformTokenCreate) -> Response:
    """Create a token that is valid in every project, or a payer's, which reads the money of one billing account.

    Only this response has its secret; a replay has null instead.
    """
    if (body.role == "payer") != (body.account_id is not None):
        raise invalid([FieldError("/account_id", "for_payers", "A token has an account if its role is `payer`.")])

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        rights = narrowing.chosen(Role(body.role), body.scopes, body.allowed_sources)
        narrowing.require_within(principal.rights, rights)
        if body.account_id is not None and not await account_exists(connection, body.account_id):
            raise invalid([FieldError("/account_id", "unknown", "There is no billing account with this id.")])
        token = await token_store.create(
            connection,
            env=services_of(request).settings.environment,
            project_id=None,
            name=body.name,
            role=rights.role,
            expires_at=body.expires_at,
            created_by=principal.token_id,
            account_id=body.account_id,
            scopes=rights.narrowed_to,
            allowed_sources=rights.sources,
        )
        trace_of(request).concerns(subject_id=token.id)
        return created_token(token, _ALL)

    return await change_platform(request, effect)


@routes.get(_ONE, **operation("getPlatformToken", "Read a platform token", Permission.PLATFORM_READ, gives=TokenOut))
async def get_platform_token(request: Request, token: TokenId) -> Response:
    """Return a token without its secret."""
    row = await read_platform(request, token_store.GET_PLATFORM_TOKEN, token_id=token)
    if row.document is None:
        raise not_found()
    return Response(row.document, media_type=JSON)


@routes.delete(
    _ONE,
    **operation(
        "revokePlatformToken",
        "Revoke a platform token",
        Permission.PLATFORM_WRITE,
        status=204,
        description="Revoked",
        errors=(LAST_ADMINISTRATOR,),
    ),
)
async def revoke_platform_token(request: Request, token: TokenId) -> Response:
    """Revoke a token immediately, unless no other administrator's token is valid as long. Repeating has no effect."""

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        await token_ends.revoke(connection, _keeper(request, principal, token), token)
        return Answer(204)

    return await change_platform(request, effect)


@routes.post(
    _ONE + ":rotate",
    **operation(
        "rotatePlatformToken",
        "Rotate a platform token",
        Permission.PLATFORM_WRITE,
        gives=NewTokenOut,
        status=201,
        description="Created",
        errors=(STATE_CONFLICT, LAST_ADMINISTRATOR),
    ),
)
async def rotate_platform_token(request: Request, token: TokenId, body: TokenRotate) -> Response:
    """Create a token with the same name, role and scopes, and revoke this one, immediately or after an overlap."""

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        keeper, env = _keeper(request, principal, token), services_of(request).settings.environment
        return created_token(await token_ends.rotate(connection, keeper, token, body, env=env), _ALL)

    return await change_platform(request, effect)


def _keeper(request: Request, principal: Principal, token: UUID) -> token_ends.Keeper:
    trace = trace_of(request)
    trace.concerns(subject_id=token)
    return token_ends.Keeper(None, principal.token_id, trace.request_id, principal.rights)
