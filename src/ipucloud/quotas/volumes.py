"""Limits of volumes, in GiB per project and region. How much of one is used, the volumes themselves say.

The project's row is locked by whoever changes a limit, and by whoever makes a volume or lets it grow.
"""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements

_FIND = Query("SELECT gib_limit FROM volume_quotas WHERE project_id = :project_id AND region = :region", int)
_SET = sa.text(
    """
    INSERT INTO volume_quotas (project_id, region, gib_limit) VALUES (:project_id, :region, :gib)
    ON CONFLICT (project_id, region) DO UPDATE SET gib_limit = excluded.gib_limit
    """
)
_FORGET = sa.text("DELETE FROM volume_quotas WHERE project_id = :project_id AND region = :region")


async def volume_limit(connection: Statements, *, project_id: UUID, region: str, default: int) -> int:
    """GiB that the project's volumes may have together in the region."""
    found = await _FIND.one_or_none(connection, {"project_id": project_id, "region": region})
    return default if found is None else found


async def set_volume_limit(connection: AsyncConnection, *, project_id: UUID, region: str, gib: int | None) -> None:
    """Set the limit; None: it is the default again."""
    mine: dict[str, object] = {"project_id": project_id, "region": region}
    await connection.execute(*((_FORGET, mine) if gib is None else (_SET, mine | {"gib": gib})))
