"""S3 connections of a project, for its exports and clusters, or of a billing account, for its exports."""

from __future__ import annotations

import asyncio
from typing import Annotated
from uuid import UUID

import orjson
from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.owners import Owner, OwnerRouter, Twin, lock, path_of
from ipucloud.api.paging import only_page
from ipucloud.api.routing import operation
from ipucloud.api.services import services_of
from ipucloud.api.shapes import NAMED
from ipucloud.billing.exports import connections
from ipucloud.billing.exports.connections import Bucket, Rules, Stored, Tested
from ipucloud.clusters import s3_access
from ipucloud.contract.s3_connections import (
    AccountS3ConnectionCreate,
    AccountS3ConnectionPatch,
    S3ConnectionCreate,
    S3ConnectionList,
    S3ConnectionOut,
    S3ConnectionPage,
    S3ConnectionPatch,
)
from ipucloud.identity.members import Home
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import IN_USE, NAME_TAKEN, NOT_CONFIGURED, QUOTA_EXCEEDED, UNAVAILABLE, Problem

owned = OwnerRouter()
routes = owned.routes

ConnectionId = Annotated[UUID, Field(description="Name or id of the connection.", examples=["finance-bucket"]), NAMED]

_ALL = "/s3-connections"
_ONE = _ALL + "/{connection:ref}"
_TESTS = asyncio.Semaphore(4)
"""Each is a process."""
_PATIENCE = 15.0
"""Seconds that a test waits for others to end."""


@owned.post(
    _ALL,
    Twin("createAccountS3Connection", "Create an S3 connection of an account", AccountS3ConnectionCreate),
    **operation(
        "createS3Connection",
        "Create an S3 connection",
        Permission.S3_WRITE,
        gives=S3ConnectionOut,
        status=201,
        description="Created",
        errors=(NAME_TAKEN, QUOTA_EXCEEDED, NOT_CONFIGURED),
    ),
)
async def create_s3_connection(owner: Owner, body: S3ConnectionCreate) -> Response:
    """Store a bucket with an access key, for exports and a project's clusters. It is contacted once used or tested."""

    async def effect(writing: AsyncConnection, home: Home) -> Answer:
        await lock(writing, home)
        bucket = Bucket(**body.model_dump())
        document = await connections.connect(writing, home, bucket, _rules_of(owner.request))
        connection_id = UUID(orjson.loads(document)["id"])
        return Answer(201, document, {"Location": f"{path_of(home)}/s3-connections/{connection_id}"}, connection_id)

    return await owner.change(effect)


@owned.get(
    _ALL,
    Twin("listAccountS3Connections", "List S3 connections of an account"),
    **operation("listS3Connections", "List S3 connections", Permission.PROJECT_READ, gives=S3ConnectionPage),
)
async def list_s3_connections(owner: Owner, query: S3ConnectionList) -> Response:
    """List the S3 connections that match every filter, without their secrets."""
    async with owner.reading() as (statements, home):
        return only_page(await connections.connection_documents(statements, home, query))


@owned.get(
    _ONE,
    Twin("getAccountS3Connection", "Read an S3 connection of an account"),
    **operation("getS3Connection", "Read an S3 connection", Permission.PROJECT_READ, gives=S3ConnectionOut),
)
async def get_s3_connection(owner: Owner, connection: ConnectionId) -> Response:
    """Return an S3 connection, without its secret."""
    async with owner.reading() as (statements, home):
        document = await connections.connection_document(statements, home, connection)
    return Response(document, media_type=JSON)


@owned.patch(
    _ONE,
    Twin("updateAccountS3Connection", "Change an S3 connection of an account", AccountS3ConnectionPatch),
    **operation(
        "updateS3Connection",
        "Change an S3 connection",
        Permission.S3_WRITE,
        gives=S3ConnectionOut,
        errors=(IN_USE, NOT_CONFIGURED),
    ),
)
async def update_s3_connection(owner: Owner, connection: ConnectionId, body: S3ConnectionPatch) -> Response:
    """Change an S3 connection, for example its access key. Servers of clusters that have it get the new values."""

    async def effect(writing: AsyncConnection, home: Home) -> Answer:
        await lock(writing, home)
        if home.project_id is not None:
            await s3_access.lock_attached(writing, home.project_id, connection)
            if body.attachable is False:
                await s3_access.refuse_if_attached(writing, home.project_id, connection)
        changed = await connections.change_connection(writing, home, connection, body, _rules_of(owner.request))
        if changed and home.project_id is not None:
            await s3_access.roll_out(writing, home.project_id, connection)
        document = await connections.connection_document(writing, home, connection)
        return Answer(200, document, subject_id=connection)

    return await owner.change(effect)


@owned.post(
    _ONE + ":test",
    Twin("testAccountS3Connection", "Test an S3 connection of an account"),
    **operation(
        "testS3Connection",
        "Test an S3 connection",
        Permission.S3_WRITE,
        gives=S3ConnectionOut,
        errors=(UNAVAILABLE,),
    ),
)
async def test_s3_connection(owner: Owner, connection: ConnectionId) -> Response:
    """Test a connection: reach its endpoint, list its bucket, write an empty object and delete it.

    `test` of the response says what failed first. The bucket is reached from the control plane, not from a cluster.
    """
    async with owner.reading() as (statements, home):
        stored = await connections.stored_connection(statements, home, connection)
    tested = await _tested_now(owner.request, home, connection, stored)

    async def effect(writing: AsyncConnection, home: Home) -> Answer:
        document = await connections.record_test(writing, home, connection, tested)
        return Answer(200, document, subject_id=connection)

    return await owner.change(effect)


@owned.delete(
    _ONE,
    Twin("deleteAccountS3Connection", "Delete an S3 connection of an account"),
    **operation(
        "deleteS3Connection",
        "Delete an S3 connection",
        Permission.S3_WRITE,
        status=204,
        description="Deleted with its secret",
        errors=(IN_USE,),
    ),
)
async def delete_s3_connection(owner: Owner, connection: ConnectionId) -> Response:
    """Delete an S3 connection that no cluster and no schedule uses. Deliveries in progress fail."""

    async def effect(writing: AsyncConnection, home: Home) -> Answer:
        await lock(writing, home)
        if home.project_id is not None:
            await s3_access.refuse_if_attached(writing, home.project_id, connection)
        await connections.disconnect(writing, home, connection)
        return Answer(204)

    return await owner.change(effect)


async def _tested_now(request: Request, home: Home, connection: UUID, stored: Stored) -> Tested:
    """Test a connection. Raises `Problem` unavailable while too many are being tested."""
    try:
        async with asyncio.timeout(_PATIENCE):
            await _TESTS.acquire()
    except TimeoutError:
        sentence = "Too many connections are being tested. Send the request again."
        raise Problem(UNAVAILABLE, sentence) from None
    try:
        return await connections.try_out(home, connection, stored, _rules_of(request))
    finally:
        _TESTS.release()


def _rules_of(request: Request) -> Rules:
    """What the installation permits."""
    settings = services_of(request).settings
    return Rules(settings.sealing_keys(), settings.export_private_endpoints, settings.delivery_ports)
