"""Who reads an event about an account's money: the projects that it pays for, and so their webhooks, and its payers."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_types.registry import EventType
from ipucloud.db.documents import clauses
from ipucloud.events.log import RECORD_FOR_ACCOUNT

_READERS = """
LATERAL (
  SELECT project.id AS project_id, CAST(NULL AS uuid) AS account_id
    FROM projects_paid_by({0}) AS paid
    JOIN projects project ON project.id = paid.project_id AND project.deleted_at IS NULL
   UNION ALL SELECT NULL, {0} WHERE {0} IS NOT NULL) AS reader
"""


def readers_of(account: str) -> str:
    """A table `reader` (project_id, account_id) to join: who gets an event of the account; one of the two is NULL.

    For statements with `events.log.RECORD_FOR_ACCOUNT`.
    """
    return _READERS.format(account)


_TELL = sa.text(
    clauses(
        RECORD_FOR_ACCOUNT,
        """
        SELECT reader.project_id, reader.account_id, :type, 'account', told.account_id, CAST(:data AS jsonb)
          FROM (SELECT CAST(:account_id AS uuid) AS account_id) AS told CROSS JOIN
        """,
        readers_of("told.account_id"),
    )
)


async def tell(connection: AsyncConnection, account_id: UUID, event: EventType, data: BaseModel | None = None) -> None:
    """Record an event about the account for its payers, and in every project that it pays for."""
    text = "{}" if data is None else data.model_dump_json()
    await connection.execute(_TELL, {"account_id": account_id, "type": event.name, "data": text})
