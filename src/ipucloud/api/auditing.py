"""Which requests have an entry in the audit log, and their entries."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import structlog
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import HTTPConnection

from ipucloud.api.credentials import SAFE_METHODS
from ipucloud.api.services import services_of
from ipucloud.api.trace import origin_of, trace_of
from ipucloud.identity import audit_log
from ipucloud.identity.access import project_parameters
from ipucloud.identity.audit_log import AuditedRequest
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import INTERNAL_ERROR, UNAUTHENTICATED, Problem

log = structlog.get_logger(__name__)

READS = frozenset({Permission.TOKEN_READ, Permission.BILLING_READ, Permission.ACCOUNT_READ, Permission.AUDIT_READ})
"""Reads with these permissions have entries too."""
_VERIFIED = "verified_user_id"
"""A request that ended what had access to a person's account has an entry, though it may then be refused."""


@dataclass
class Outcome:
    """How a request ended."""

    status: int = 0
    code: str | None = None


@asynccontextmanager
async def audited(request: HTTPConnection, operation: str, permission: Permission | None) -> AsyncIterator[Outcome]:
    """Write the entry of a request before the body of this context serves it, and complete it afterwards.

    Raises `Problem` unavailable if it cannot be written: nothing is served without. If it cannot be completed, it is
    abandoned later.
    """
    outcome = Outcome()
    if permission is not None and _method(request) in SAFE_METHODS and permission not in READS:
        yield outcome
        return
    entry = None if permission is None else await _begin(request, operation)
    try:
        yield outcome
    except Problem as problem:
        outcome.status, outcome.code = problem.kind.status, problem.kind.code
        raise
    except Exception:
        outcome.status, outcome.code = INTERNAL_ERROR.status, INTERNAL_ERROR.code
        raise
    finally:
        if outcome.status:  # else the request was cancelled: nobody knows its outcome
            await _end(request, operation, entry, outcome, known=permission is not None)


async def _begin(request: HTTPConnection, operation: str) -> UUID | None:
    access: Mapping[str, object] = {
        "token_hash": trace_of(request).credential(),
        **project_parameters(request.path_params.get("project", "")),
    }
    async with services_of(request).database.read() as connection:
        return await audit_log.begin(connection, audit_entry(request, operation), access)


async def _end(request: HTTPConnection, operation: str, entry: UUID | None, outcome: Outcome, *, known: bool) -> None:
    objects = trace_of(request).ids
    try:
        async with services_of(request).database.read() as connection:
            if entry is not None:
                await audit_log.complete(connection, entry, status=outcome.status, code=outcome.code, objects=objects)
            elif not known and (
                outcome.status < 400 or outcome.status == UNAUTHENTICATED.status or _VERIFIED in objects
            ):
                entire = audit_entry(request, operation)
                await audit_log.record_entry(
                    connection, entire, status=outcome.status, code=outcome.code, objects=objects
                )
    except (Problem, SQLAlchemyError) as error:
        log.warning("audit_log_not_completed", operation=operation, error=type(error).__name__)


def audit_entry(request: HTTPConnection, operation: str) -> AuditedRequest:
    """How the entry of a request begins."""
    address, agent, _ = origin_of(request)
    return AuditedRequest(operation, _method(request), address, agent, trace_of(request).request_id)


def _method(request: HTTPConnection) -> str:
    """A WebSocket is noted as what opens one in HTTP/2 and later."""
    return str(request.scope.get("method", "CONNECT"))
