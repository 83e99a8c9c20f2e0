"""S3 connections of a billing account, for the delivery of its exports."""

from __future__ import annotations

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import only_page
from ipucloud.api.reads import reading_account
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import AccountId
from ipucloud.api.v1.s3_connections import ConnectionId, rules_of, tested_now
from ipucloud.api.writes import change_account
from ipucloud.billing.exports import connections
from ipucloud.billing.exports.connections import Bucket
from ipucloud.billing.invoices.payer import lock_payer
from ipucloud.contract.s3_connections import (
    AccountS3ConnectionCreate,
    AccountS3ConnectionPatch,
    S3ConnectionList,
    S3ConnectionOut,
    S3ConnectionPage,
)
from ipucloud.identity.members import Home
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import IN_USE, NAME_TAKEN, NOT_CONFIGURED, QUOTA_EXCEEDED, UNAVAILABLE

routes = router()

_ALL = "/v1/billing/accounts/{account:ref}/s3-connections"
_ONE = _ALL + "/{connection:ref}"


@routes.post(
    _ALL,
    **operation(
        "createAccountS3Connection",
        "Create an S3 connection of an account",
        Permission.ACCOUNT_WRITE,
        gives=S3ConnectionOut,
        status=201,
        description="Created",
        errors=(NAME_TAKEN, QUOTA_EXCEEDED, NOT_CONFIGURED),
    ),
)
async def create_account_s3_connection(
    request: Request, account: AccountId, body: AccountS3ConnectionCreate
) -> Response:
    """Store a bucket with an access key, for exports of the billing account. It is contacted once used or tested."""

    async def effect(writing: AsyncConnection) -> Answer:
        await lock_payer(writing, account)
        bucket = Bucket(**body.model_dump())
        document = await connections.connect(writing, Home(None, account), bucket, rules_of(request))
        connection_id = orjson.loads(document)["id"]
        return Answer(201, document, {"Location": f"/v1/billing/accounts/{account}/s3-connections/{connection_id}"})

    return await change_account(request, account, effect)


@routes.get(
    _ALL,
    **operation(
        "listAccountS3Connections",
        "List S3 connections of an account",
        Permission.ACCOUNT_READ,
        gives=S3ConnectionPage,
    ),
)
async def list_account_s3_connections(request: Request, account: AccountId, query: S3ConnectionList) -> Response:
    """List the billing account's S3 connections that match every filter, without their secrets."""
    async with reading_account(request, account) as statements:
        return only_page(await connections.connection_documents(statements, Home(None, account), query))


@routes.get(
    _ONE,
    **operation(
        "getAccountS3Connection",
        "Read an S3 connection of an account",
        Permission.ACCOUNT_READ,
        gives=S3ConnectionOut,
    ),
)
async def get_account_s3_connection(request: Request, account: AccountId, connection: ConnectionId) -> Response:
    """Return an S3 connection, without its secret."""
    async with reading_account(request, account) as statements:
        document = await connections.connection_document(statements, Home(None, account), connection)
    return Response(document, media_type=JSON)


@routes.patch(
    _ONE,
    **operation(
        "updateAccountS3Connection",
        "Change an S3 connection of an account",
        Permission.ACCOUNT_WRITE,
        gives=S3ConnectionOut,
        errors=(NOT_CONFIGURED,),
    ),
)
async def update_account_s3_connection(
    request: Request, account: AccountId, connection: ConnectionId, body: AccountS3ConnectionPatch
) -> Response:
    """Change an S3 connection, for example its access key."""
    home = Home(None, account)

    async def effect(writing: AsyncConnection) -> Answer:
        await lock_payer(writing, account)
        await connections.change_connection(writing, home, connection, body, rules_of(request))
        return Answer(200, await connections.connection_document(writing, home, connection), subject_id=connection)

    return await change_account(request, account, effect)


@routes.post(
    _ONE + ":test",
    **operation(
        "testAccountS3Connection",
        "Test an S3 connection of an account",
        Permission.ACCOUNT_WRITE,
        gives=S3ConnectionOut,
        errors=(UNAVAILABLE,),
    ),
)
async def test_account_s3_connection(request: Request, account: AccountId, connection: ConnectionId) -> Response:
    """Test a connection: reach its endpoint, list its bucket, write an empty object and delete it.

    `test` of the response says what failed first.
    """
    home = Home(None, account)
    async with reading_account(request, account) as statements:
        stored = await connections.stored_connection(statements, home, connection)
    tested = await tested_now(request, home, connection, stored)

    async def effect(writing: AsyncConnection) -> Answer:
        document = await connections.record_test(writing, home, connection, tested)
        return Answer(200, document, subject_id=connection)

    return await change_account(request, account, effect)


@routes.delete(
    _ONE,
    **operation(
        "deleteAccountS3Connection",
        "Delete an S3 connection of an account",
        Permission.ACCOUNT_WRITE,
        status=204,
        description="Deleted with its secret",
        errors=(IN_USE,),
    ),
)
async def delete_account_s3_connection(request: Request, account: AccountId, connection: ConnectionId) -> Response:
    """Delete an S3 connection that no schedule uses. Deliveries in progress fail."""

    async def effect(writing: AsyncConnection) -> Answer:
        await lock_payer(writing, account)
        await connections.disconnect(writing, Home(None, account), connection)
        return Answer(204)

    return await change_account(request, account, effect)
