"""Operations: list, read, wait, cancel."""

from __future__ import annotations

import asyncio
import contextlib
from uuid import UUID

import orjson
from sqlalchemy.exc import NoResultFound
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import tagged
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import list_of
from ipucloud.api.reads import read_one
from ipucloud.api.routing import Operation, operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import IF_MATCH, IF_NONE_MATCH, OperationId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.writes import change
from ipucloud.clusters.operations.kind import WORK_KIND
from ipucloud.clusters.states import PARTITIONS
from ipucloud.contract.operations import OperationList, OperationOut, OperationPage, Waiting
from ipucloud.db.documents import DocumentPage, OneDocument
from ipucloud.identity.access import Scope, authenticated
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import PRECONDITION_FAILED, STATE_CONFLICT, ErrorCode, Problem, not_found
from ipucloud.operations.cancelling import request_cancel
from ipucloud.operations.queries import GET_OPERATION, LIST_OPERATIONS, operation_document
from ipucloud.reconcile.wake import wake

POLL_SECONDS = 0.5
"""Interval of a long poll's reads; it holds no database connection between them."""
RETRY_AFTER = "2"
ACCEPTED = "Accepted; Location is the operation"

_GET = authenticated(GET_OPERATION, OneDocument)
_LIST = {order: authenticated(text, DocumentPage) for order, text in LIST_OPERATIONS.items()}

routes = router()


@routes.get(
    "/v1/projects/{project}/operations",
    **operation("listOperations", "List operations", Permission.CLUSTER_READ, gives=OperationPage, by_cluster=True),
)
async def list_operations(request: Request, project: ProjectRef, query: OperationList) -> Response:
    """List the project's operations, newest first."""
    return await list_of(request, project, _LIST, query)


@routes.get(
    "/v1/projects/{project}/operations/{operation:uuid}",
    **operation(
        "getOperation",
        "Read an operation",
        Permission.CLUSTER_READ,
        gives=OperationOut,
        headers=(IF_NONE_MATCH,),
        by_cluster=True,
    ),
)
async def get_operation(request: Request, project: ProjectRef, operation: OperationId, query: Waiting) -> Response:
    """Return an operation. With `wait`, respond when it is done or the time is up.

    `Retry-After` is the time to the next poll. It is absent once the operation is done; then nothing changes any more.
    """
    trace_of(request).concerns(operation_id=operation)
    clock, draining = services_of(request).clock, services_of(request).draining
    until = clock.monotonic() + query.wait
    while True:
        document, version, done = await _read(request, project, operation)
        remaining = until - clock.monotonic()
        if done or remaining <= 0 or draining.is_set():
            break
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(remaining, POLL_SECONDS)):
                await draining.wait()
    answer = tagged(request, document, version)
    if not done:
        answer.headers["Retry-After"] = RETRY_AFTER
    return answer


async def _read(request: Request, project: str, operation: UUID) -> tuple[bytes, int, bool]:
    document, version = await read_one(request, _GET, project, operation_id=operation)
    return document, version, orjson.loads(document)["done"]


@routes.post(
    "/v1/projects/{project}/operations/{operation:uuid}:cancel",
    **operation(
        "cancelOperation",
        "Cancel an operation",
        Permission.CLUSTER_WRITE,
        gives=OperationOut,
        status=202,
        description="The operation will be cancelled",
        errors=(STATE_CONFLICT,),
        by_cluster=True,
    ),
)
async def cancel_operation(request: Request, project: ProjectRef, operation: OperationId) -> Response:
    """Cancel a create, resume or resize, or the create or reset of a partition. It stops after the current step, and
    completed steps are undone.

    Nothing is billed for it. A cluster whose resume is cancelled stays suspended, and one that waits for capacity to be
    resized stays in use. What the controller already has of a new
    partition is removed; a partition whose reset is cancelled is left as the controller has it.
    """

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        row = await request_cancel(connection, project_id=scope.project_id, operation_id=operation)
        document = await _document(connection, scope.project_id, operation)
        if row is None:
            raise Problem(STATE_CONFLICT, "The operation is done or can no longer be cancelled.")
        kind = WORK_KIND if row.partition_id is None else PARTITIONS
        await wake(connection, kind=kind, key=str(row.cluster_id), project_id=scope.project_id)
        trace_of(request).concerns(operation_id=operation, cluster_id=row.cluster_id)
        return Answer(202, document, {"Location": location(scope.project_id, operation)}, operation)

    return await change(request, project, effect)


def begins(operation_id: str, summary: str, *errors: ErrorCode) -> Operation:
    """Describe a route that begins an operation on a cluster or a partition that is there."""
    return operation(
        operation_id,
        summary,
        Permission.CLUSTER_WRITE,
        gives=OperationOut,
        status=202,
        description=ACCEPTED,
        errors=(PRECONDITION_FAILED, *errors),
        headers=(IF_MATCH,),
    )


async def accepted(connection: AsyncConnection, scope: Scope, operation: UUID, subject: UUID) -> Answer:
    """202 with an operation that this transaction opened or found open."""
    return await accepted_in(connection, scope.project_id, operation, subject)


async def accepted_in(connection: AsyncConnection, project_id: UUID, operation: UUID, subject: UUID) -> Answer:
    """As `accepted`, for a caller from outside the project."""
    document = await _document(connection, project_id, operation)
    headers = {"Location": location(project_id, operation), "Retry-After": RETRY_AFTER}
    return Answer(202, document, headers, subject)


def location(project_id: UUID, operation: UUID) -> str:
    return f"/v1/projects/{project_id}/operations/{operation}"


async def _document(connection: AsyncConnection, project_id: UUID, operation: UUID) -> bytes:
    try:
        return (await operation_document(connection, project_id=project_id, operation_id=operation)).encode()
    except NoResultFound:
        raise not_found() from None
