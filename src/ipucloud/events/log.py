"""Writing the event log: one fact per call, in the transaction that makes it true."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

_RECORD = sa.text(
    """
    INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id, data)
    VALUES (:project_id, :type, :subject_type, :subject_id, :operation_id, :request_id, CAST(:data AS jsonb))
    """
)


async def record(
    connection: AsyncConnection,
    *,
    project_id: UUID,
    type: str,  # noqa: A002  # the event's own field, as in the API
    subject_type: str,
    subject_id: UUID,
    operation_id: UUID | None = None,
    request_id: str | None = None,
    data: Mapping[str, object] | None = None,
) -> None:
    """Append one event, such as `cluster.created` about the `cluster` with this id.

    It becomes visible to readers when the caller's transaction commits, never if that rolls back.
    """
    await connection.execute(
        _RECORD,
        {
            "project_id": project_id,
            "type": type,
            "subject_type": subject_type,
            "subject_id": subject_id,
            "operation_id": operation_id,
            "request_id": request_id,
            "data": orjson.dumps(data or {}).decode(),
        },
    )
