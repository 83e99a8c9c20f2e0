"""Freezes: while one is live in a region, nothing there is removed or switched off.

Requests are accepted meanwhile, and billing ends as usual. Steps that remove, sweeps and the cleaning of isolated
hardware wait, as `frozen` tells them; what a site has been asked for already still happens.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.platform import FreezeOf
from ipucloud.contract.event_types.platform import FREEZE_ENDED
from ipucloud.db.rows import Query
from ipucloud.events.log import record_for_operators
from ipucloud.kernel.ids import new_id


class EndedFreeze(NamedTuple):
    """A freeze that has ended. `region`: None for all."""

    id: UUID
    region: str | None
    reason: str


_END = Query(
    """
    WITH ended AS (
      UPDATE freezes SET ended_at = app_now(), ended_by = :ended_by, end_reason = :reason
       WHERE id = :id AND ended_at IS NULL AND expires_at > app_now() RETURNING id)
    SELECT count(*) FROM ended
    """,
    int,
)
_EXPIRE = Query(
    """
    UPDATE freezes SET ended_at = expires_at, end_reason = 'it expired'
     WHERE ended_at IS NULL AND expires_at <= app_now() RETURNING id, region, 'it expired' AS reason
    """,
    EndedFreeze,
)
_GIVE_WAY = Query(
    """
    UPDATE freezes SET ended_at = app_now(), ended_by = :created_by, end_reason = 'another one took its place'
     WHERE region IS NOT DISTINCT FROM CAST(:region AS text) AND ended_at IS NULL
     RETURNING id, region, 'another one took its place' AS reason
    """,
    EndedFreeze,
)
_FREEZE = sa.text(
    "INSERT INTO freezes (id, region, reason, created_by, expires_at)"
    " VALUES (:id, :region, :reason, :created_by, :expires_at)"
)


class Freeze(NamedTuple):
    """What an operator freezes: a region, None for all; why; until when. `created_by`: the id of the token."""

    region: str | None
    reason: str
    expires_at: datetime
    created_by: UUID


async def freeze(connection: AsyncConnection, new: Freeze) -> UUID:
    """Freeze removals, and return the freeze's id. One of the same region that is live gives way to it."""
    await expire_freezes(connection)
    for ended in await _GIVE_WAY.all(connection, new._asdict()):
        await _record_end(connection, ended)
    freeze_id = new_id()
    await connection.execute(_FREEZE, {"id": freeze_id} | new._asdict())
    return freeze_id


async def expire_freezes(connection: AsyncConnection) -> list[EndedFreeze]:
    """End the freezes that have expired. What they held goes on at their expiry already."""
    expired = await _EXPIRE.all(connection)
    for ended in expired:
        await _record_end(connection, ended)
    return expired


async def _record_end(connection: AsyncConnection, ended: EndedFreeze) -> None:
    data = FreezeOf(reason=ended.reason)
    await record_for_operators(connection, FREEZE_ENDED, region=ended.region, subject_id=ended.id, data=data)


async def end_freeze(connection: AsyncConnection, freeze_id: UUID, *, reason: str, ended_by: UUID) -> bool:
    """End a freeze; False when it is not live."""
    return await _END.one(connection, {"id": freeze_id, "reason": reason, "ended_by": ended_by}) > 0
