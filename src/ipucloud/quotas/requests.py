"""What is written of a request for a higher quota: by the project that asks, and by the operator who decides.

The project's row is locked before the request and its quota, as by every other change of quotas.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.projects import QuotaRequested
from ipucloud.contract.event_types.projects import (
    QUOTA_REQUEST_DECLINED,
    QUOTA_REQUEST_GRANTED,
    QUOTA_REQUEST_OPENED,
    QUOTA_REQUEST_WITHDRAWN,
    QUOTA_UPDATED,
)
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.quota_requests import QuotaRequestCreate, QuotaRequestGrant, QuotaRequestState
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.identity import projects
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem, not_found
from ipucloud.kernel.ids import new_id
from ipucloud.quotas.counted import COUNTED_UNITS, LIMITS, DefaultLimits
from ipucloud.quotas.store import find, set_limit


class QuotaRequest(NamedTuple):
    """A request for a higher quota. `limit`: the one that is wanted."""

    id: UUID
    project_id: UUID
    region: str
    machine_type: str
    limit: int
    state: QuotaRequestState
    decided_by: UUID | None
    decided_at: datetime | None


_COLUMNS = "id, project_id, region, machine_type, wanted_limit AS limit, state, decided_by, decided_at"
_OPEN_ONE = Query(
    f"""
    SELECT {_COLUMNS} FROM quota_requests
     WHERE project_id = :project_id AND region = :region AND machine_type = :machine_type AND state = 'open'
    """,  # noqa: S608  # our own text
    QuotaRequest,
)
_OPEN = sa.text(
    """
    INSERT INTO quota_requests (id, project_id, region, machine_type, wanted_limit, reason, created_by)
    VALUES (:id, :project_id, :region, :machine_type, :limit, :reason, :created_by)
    """
)
_PROJECT = Query("SELECT project_id FROM quota_requests WHERE id = :id", UUID)
_LOCK = Query(
    f"SELECT {_COLUMNS} FROM quota_requests WHERE id = :id FOR NO KEY UPDATE",  # noqa: S608  # our own text
    QuotaRequest,
)
_DECIDE = sa.text(
    """
    UPDATE quota_requests SET state = :state, granted_limit = :granted_limit, answer = :answer,
           decided_by = :decided_by, decided_at = app_now()
     WHERE id = :id
    """
).bindparams(
    sa.bindparam("state", type_=sa.Text),
    sa.bindparam("granted_limit", type_=sa.Integer),
    sa.bindparam("answer", type_=sa.Text),
)


async def open_request(
    connection: AsyncConnection, actor: Actor, body: QuotaRequestCreate, *, region: str, defaults: DefaultLimits
) -> UUID:
    """Record what a project asks for; the request's id. `region`: the slug of the one that it names.

    `defaults`: the limits of storage and addresses where none was set.

    Raises `Problem`: validation_failed for a limit that it has already, state_conflict when another request for the
    same quota is open.
    """
    await projects.lock(connection, actor.project_id)
    key = {"project_id": actor.project_id, "region": region, "machine_type": body.machine_type}
    present = await _limit(connection, actor.project_id, region, body.machine_type, defaults)
    if body.limit <= present:
        sentence = f"The project's limit is {present} already. Ask for more, or not at all."
        fault = FieldError("/limit", "not_above_limit", sentence)
        raise Problem(VALIDATION_FAILED, "Nothing was asked for; `errors` says why.", [fault])
    other = await _OPEN_ONE.one_or_none(connection, key)
    if other is not None:
        raise Problem(
            STATE_CONFLICT,
            f"Quota request {other.id} asks for a limit of {other.limit} of this type already, and is open. Wait for"
            f" the decision, or withdraw it first (`ipucloud quotas withdraw {other.id}`).",
            extra={"quota_request": str(other.id)},
        )
    request_id = new_id()
    values = {"id": request_id, "limit": body.limit, "reason": body.reason, "created_by": actor.token_id}
    await connection.execute(_OPEN, key | values)
    data = QuotaRequested(region=region, machine_type=body.machine_type, limit=body.limit)
    await record(
        connection,
        QUOTA_REQUEST_OPENED,
        project_id=actor.project_id,
        subject_id=request_id,
        request_id=actor.request_id,
        data=data,
    )
    return request_id


async def withdraw(connection: AsyncConnection, actor: Actor, request_id: UUID) -> None:
    """The project no longer asks. Raises `Problem` not_found, and state_conflict when it was decided."""
    request = await _lock_open(connection, request_id, project_id=actor.project_id)
    await _decide(
        connection, request, QuotaRequestState.WITHDRAWN, by=actor.token_id, request_id=actor.request_id, answer=None
    )


async def grant(
    connection: AsyncConnection,
    quota_request_id: UUID,
    body: QuotaRequestGrant,
    *,
    token: UUID,
    request_id: str,
    defaults: DefaultLimits,
) -> None:
    """Raise the quota. `defaults`: the limits of storage and addresses where none was set.

    Raises `Problem`: not_found, validation_failed, state_conflict for one that was decided, and when the quota is that
    high already.
    """
    request = await _lock_open(connection, quota_request_id)
    present = await _limit(connection, request.project_id, request.region, request.machine_type, defaults)
    if present >= request.limit:
        sentence = f"The project's limit is {present} already, and {request.limit} were asked for: decline the request."
        raise Problem(STATE_CONFLICT, sentence)
    limit = request.limit if body.limit is None else body.limit
    if not present < limit <= request.limit:
        sentence = f"Grant more than the present limit of {present}, and at most the {request.limit} asked for."
        raise Problem(
            VALIDATION_FAILED,
            "Nothing was granted; `errors` says why.",
            [FieldError("/limit", "not_between", sentence)],
        )
    project, region, machine_type = request.project_id, request.region, request.machine_type
    if machine_type in COUNTED_UNITS:
        await LIMITS[machine_type].set(connection, project_id=project, region=region, limit=limit)
    else:
        await set_limit(connection, project_id=project, region=region, machine_type=machine_type, machines=limit)
    await record(
        connection,
        QUOTA_UPDATED,
        project_id=request.project_id,
        subject_id=request.project_id,
        request_id=request_id,
    )
    await _decide(
        connection,
        request,
        QuotaRequestState.GRANTED,
        by=token,
        request_id=request_id,
        answer=body.answer,
        granted=limit,
    )


async def _limit(
    connection: AsyncConnection, project_id: UUID, region: str, machine_type: str, defaults: DefaultLimits
) -> int:
    if machine_type in COUNTED_UNITS:
        default = defaults.of_type(machine_type)
        return await LIMITS[machine_type].find(connection, project_id=project_id, region=region, default=default)
    return (await find(connection, project_id=project_id, region=region, machine_type=machine_type)).limit


async def decline(
    connection: AsyncConnection, quota_request_id: UUID, reason: str, *, token: UUID, request_id: str
) -> None:
    """Leave the quota as it is. Raises `Problem` not_found, and state_conflict when it was decided."""
    request = await _lock_open(connection, quota_request_id)
    await _decide(connection, request, QuotaRequestState.DECLINED, by=token, request_id=request_id, answer=reason)


async def _lock_open(connection: AsyncConnection, request_id: UUID, *, project_id: UUID | None = None) -> QuotaRequest:
    """`project_id`: of the caller who may see no other project's."""
    owner = await _PROJECT.one_or_none(connection, {"id": request_id})
    if owner is None or project_id not in {None, owner}:
        raise not_found()
    await projects.lock(connection, owner)
    request = await _LOCK.one_or_none(connection, {"id": request_id})
    if request is None:
        raise not_found()
    if request.state is not QuotaRequestState.OPEN:
        when = "" if request.decided_at is None else f" at {request.decided_at:%Y-%m-%d %H:%M:%S} UTC"
        raise Problem(
            STATE_CONFLICT,
            f"Quota request {request.id} was {request.state}{when} by token {request.decided_by}; a decision is not"
            " changed.",
            extra={"decided_by": str(request.decided_by)},
        )
    return request


_DECIDED: dict[QuotaRequestState, EventType] = {
    QuotaRequestState.GRANTED: QUOTA_REQUEST_GRANTED,
    QuotaRequestState.DECLINED: QUOTA_REQUEST_DECLINED,
    QuotaRequestState.WITHDRAWN: QUOTA_REQUEST_WITHDRAWN,
}


async def _decide(
    connection: AsyncConnection,
    request: QuotaRequest,
    state: QuotaRequestState,
    *,
    by: UUID | None,
    request_id: str,
    answer: str | None,
    granted: int | None = None,
) -> None:
    values = {"id": request.id, "state": state.value, "granted_limit": granted, "answer": answer, "decided_by": by}
    await connection.execute(_DECIDE, values)
    data = QuotaRequested(
        region=request.region,
        machine_type=request.machine_type,
        limit=request.limit,
        granted_limit=granted,
        answer=answer,
    )
    await record(
        connection,
        _DECIDED[state],
        project_id=request.project_id,
        subject_id=request.id,
        request_id=request_id,
        data=data,
    )
