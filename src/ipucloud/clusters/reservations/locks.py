"""What is locked before a reservation."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

_LOCK_QUOTA = sa.text(
    """
    SELECT FROM quotas q JOIN reservations r USING (project_id, region, machine_type)
     WHERE r.project_id = :project_id AND r.id = :reservation_id FOR NO KEY UPDATE OF q
    """
)


async def lock_quota(connection: AsyncConnection, *, project_id: UUID, reservation_id: UUID) -> None:
    """Lock the quota that counts a reservation's machines, which comes before the reservation in the order of locks."""
    await connection.execute(_LOCK_QUOTA, {"project_id": project_id, "reservation_id": reservation_id})
