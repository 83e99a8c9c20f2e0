"""Writing the event log: one fact per call, in the transaction that makes it true."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.contract.event_types.registry import EventType
from ipucloud.db.documents import Fragment
from ipucloud.kernel.actor import NO_ORIGIN, Origin

RECORD = Fragment("INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id, data)")
"""Begins a statement that records events; the continuation provides the rows, as in `contract.event_types`."""
RECORD_IN_HOME = Fragment(
    "INSERT INTO events (project_id, account_id, type, subject_type, subject_id, operation_id, request_id, data)"
)
"""The same for events of a project or of a billing account; one of the two ids is NULL."""
RECORD_FOR_ACCOUNT = Fragment("INSERT INTO events (project_id, account_id, type, subject_type, subject_id, data)")
"""The same for events about money, of which the readers of an account get one each; see `billing.accounts.store`."""
_RECORD = sa.text(
    """
    INSERT INTO events (project_id, account_id, type, subject_type, subject_id, operation_id, request_id, data,
                        operators, region)
    VALUES (:project_id, :account_id, :type, :subject_type, :subject_id, :operation_id, :request_id,
            CAST(:data AS jsonb), :operators, :region)
    """
)


_ACT_AS = sa.text(
    """
    SELECT concat(
      set_config('ipucloud.actor', :actor, true), set_config('ipucloud.actor_kind', 'user', true),
      set_config('ipucloud.actor_home', CAST(CAST(:home AS uuid) AS text), true),
      set_config('ipucloud.address', :address, true), set_config('ipucloud.agent', :agent, true))
    """
)


async def act_as(
    connection: AsyncConnection, actor: str, *, home: UUID | None = None, origin: Origin = NO_ORIGIN
) -> None:
    """Have the transaction's further events name a person, of a project or account, and where the request came from.

    `identity.access` does so for whoever it admits.
    """
    await connection.execute(_ACT_AS, {"actor": actor, "home": home, **origin._asdict()})


async def record(
    connection: AsyncConnection,
    type: EventType,  # noqa: A002  # the event's own field, as in the API
    *,
    project_id: UUID,
    subject_id: UUID,
    subject_type: str | None = None,
    operation_id: UUID | None = None,
    request_id: str | None = None,
    data: BaseModel | None = None,
) -> None:
    """Append one event. `subject_type` is needed only for a type with several; `data` is the type's payload.

    Readers see it when the caller's transaction commits. Raises ValueError for a type that is not registered or not of
    projects, and a subject that the type does not have, TypeError for data of another shape.
    """
    if not type.project:
        raise ValueError(f"no project has {type.name}")
    await connection.execute(
        _RECORD,
        {
            "project_id": project_id,
            "account_id": None,
            "type": type.name,
            "subject_type": _subject(type, subject_type),
            "subject_id": subject_id,
            "operation_id": operation_id,
            "request_id": request_id,
            "data": _json(type, data),
            "operators": type.operators,
            "region": None,
        },
    )


async def record_for_operators(
    connection: AsyncConnection,
    type: EventType,  # noqa: A002  # as above
    *,
    region: str | None,
    subject_id: UUID | None = None,
    subject_type: str | None = None,
    request_id: str | None = None,
    data: BaseModel | None = None,
) -> None:
    """Append an event of the platform, which no project has. `region`: its slug; None: all, or none.

    `subject_id`: None for one about the region. Raises as `record`, and ValueError for a type that operators do not
    read.
    """
    if not type.operators:
        raise ValueError(f"operators do not read {type.name}")
    await connection.execute(
        _RECORD,
        {
            "project_id": None,
            "account_id": None,
            "type": type.name,
            "subject_type": _subject(type, subject_type),
            "subject_id": subject_id,
            "operation_id": None,
            "request_id": request_id,
            "data": _json(type, data),
            "operators": True,
            "region": region,
        },
    )


async def record_for_account(
    connection: AsyncConnection,
    type: EventType,  # noqa: A002  # as above
    *,
    account_id: UUID,
    subject_id: UUID,
    request_id: str | None = None,
    data: BaseModel | None = None,
) -> None:
    """Append an event of a billing account, for its payers. Raises as `record`, and ValueError for other types."""
    if not type.account:
        raise ValueError(f"no account has {type.name}")
    await connection.execute(
        _RECORD,
        {
            "project_id": None,
            "account_id": account_id,
            "type": type.name,
            "subject_type": _subject(type, None),
            "subject_id": subject_id,
            "operation_id": None,
            "request_id": request_id,
            "data": _json(type, data),
            "operators": False,
            "region": None,
        },
    )


def _subject(kind: EventType, subject_type: str | None) -> str:
    if REGISTRY.get(kind.name) != kind:
        raise ValueError(f"{kind.name} is not a registered event type")
    if subject_type is None and len(kind.subjects) == 1:
        return kind.subjects[0]
    if subject_type is None or (kind.subjects and subject_type not in kind.subjects):
        raise ValueError(f"{kind.name} is about {' or '.join(kind.subjects) or 'anything'}, not {subject_type}")
    return subject_type


def _json(kind: EventType, data: BaseModel | None) -> str:
    if (None if data is None else type(data)) is not kind.payload:
        expected = "no data" if kind.payload is None else f"data of {kind.payload.__name__}"
        raise TypeError(f"{kind.name} takes {expected}, not {type(data).__name__}")
    return "{}" if data is None else data.model_dump_json(exclude_unset=True)
