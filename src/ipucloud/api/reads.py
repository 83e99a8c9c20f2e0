"""Reads: one statement authenticates, authorises and reads."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple
from uuid import UUID

from starlette.requests import HTTPConnection, Request

from ipucloud.api.services import services_of
from ipucloud.api.trace import origin_of, trace_of
from ipucloud.billing.accounts.store import account_document, account_of
from ipucloud.db.documents import OneDocument
from ipucloud.db.rows import Query, Row
from ipucloud.db.statements import Statements, Tenant
from ipucloud.identity.access import (
    AS_TENANT,
    IDENTIFY,
    Principal,
    Scope,
    admit,
    authenticated,
    authorize,
    project_parameters,
    require,
    rights_at,
    unauthenticated,
)
from ipucloud.identity.roles import Permission
from ipucloud.kernel.actor import NO_ORIGIN
from ipucloud.kernel.errors import not_found


class _Caller(NamedTuple):
    rights: str | None
    project_id: UUID | None


_WHO = authenticated(
    "SELECT (SELECT rights FROM principal) AS rights, (SELECT project_id FROM project) AS project_id", _Caller
)


def permission_of(request: HTTPConnection) -> Permission:
    """The permission that the request's route requires."""
    needed: Permission | None = request.scope["route"].permission
    if needed is None:
        raise TypeError("a route that is open to everybody authorises nobody")
    return needed


async def read(request: HTTPConnection, statement: Query[Row], project: str, **parameters: object) -> Row:
    """The row of a statement made by `identity.access.authenticated`, which begins with rights and project.

    Raises `Problem` 401, 404 or 403.
    """
    trace = trace_of(request)
    row = await services_of(request).reader.one(
        statement,
        {"token_hash": trace.credential(), **project_parameters(project), **parameters},
        entered=AS_TENANT,
    )
    if row is None:
        raise TypeError("a statement for `read` must always return one row")
    rights, project_id, *_ = row
    trace.admit(admit(rights, project_id, permission_of(request), origin_of(request)), project_id=project_id)
    return row


async def read_one(
    request: Request, statement: Query[OneDocument], project: str, **parameters: object
) -> tuple[bytes, int]:
    """The JSON and the version of one object. Raises `Problem` 401, 403, 404."""
    row = await read(request, statement, project, **parameters)
    if row.document is None or row.version is None:
        raise not_found()
    return row.document.encode(), row.version


async def read_itself(request: HTTPConnection, statement: Query[Row]) -> Row:
    """As `read_platform`, for what every live token may read about itself, whatever its scopes are.

    Raises `Problem` 401.
    """
    trace = trace_of(request)
    row = await services_of(request).reader.one(statement, {"token_hash": trace.credential()})
    if row is None:
        raise unauthenticated()
    rights_at(origin_of(request), row[0])
    trace.admit()
    return row


async def read_platform(request: HTTPConnection, statement: Query[Row], **parameters: object) -> Row:
    """The row of a statement outside any project: of `identity.access.PRINCIPAL`, whose rights it returns first.

    Raises `Problem` 401 or 403.
    """
    trace = trace_of(request)
    row = await services_of(request).reader.one(statement, {"token_hash": trace.credential(), **parameters})
    if row is None:
        raise unauthenticated()
    require(rights_at(origin_of(request), row[0]), permission_of(request))
    trace.admit()
    return row


async def principal(request: HTTPConnection) -> Principal:
    """The caller, outside any project. Raises `Problem` 401 or 403."""
    caller = await read_platform(request, IDENTIFY, **NO_ORIGIN._asdict())
    trace_of(request).concerns(token_id=caller.token_id)
    return caller


@asynccontextmanager
async def reading(request: Request, project: str, *, of_payer: bool = False) -> AsyncIterator[tuple[Statements, Scope]]:
    """A connection, and the scope of the request, for reads that take several statements.

    `of_payer`: they are about the account that pays, for other projects as well.
    """
    trace, database = trace_of(request), services_of(request).database
    async with database.read() as connection:
        scope = await authorize(connection, trace.credential(), project, permission_of(request), origin_of(request))
        payer = await account_of(connection, scope.project_id) if of_payer else None
    trace.admit(scope.role, project_id=scope.project_id)
    clusters = scope.rights.clusters
    reached = None if clusters is None else f"{{{','.join(map(str, clusters))}}}"
    async with database.read(Tenant(scope.project_id, scope.token_id, payer, reached)) as connection:
        yield connection, scope


@asynccontextmanager
async def reading_platform(request: Request) -> AsyncIterator[Statements]:
    """A connection for reads outside any project. Raises `Problem` 401 or 403."""
    await principal(request)
    async with services_of(request).database.read() as connection:
        yield connection


@asynccontextmanager
async def reading_account(request: Request, account: UUID) -> AsyncIterator[Statements]:
    """A connection for reads about a billing account. Raises `Problem` 401, 403, or 404.

    To a payer, another account is one that does not exist.
    """
    caller = await principal(request)
    if caller.account not in {None, account}:
        raise not_found()
    async with services_of(request).database.read(Tenant(None, caller.token_id, account)) as connection:
        await account_document(connection, account, currency=services_of(request).settings.currency)
        yield connection


async def read_one_of_account(
    request: Request, statement: Query[OneDocument], account: UUID, **parameters: object
) -> tuple[bytes, int]:
    """As `read_one`, of a billing account. Raises what `reading_account` raises."""
    async with reading_account(request, account) as connection:
        row = await statement.one(connection, {"account_id": account, **parameters})
    if row.document is None or row.version is None:
        raise not_found()
    return row.document.encode(), row.version


async def check_permission(request: HTTPConnection) -> None:
    """Raise `Problem` 401, 404 or 403 if a valid request of the caller would be refused."""
    project = request.path_params.get("project")
    if project is None:
        await principal(request)
    else:
        await read(request, _WHO, project)
