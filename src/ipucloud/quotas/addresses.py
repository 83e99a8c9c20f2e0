"""Limits of addresses, per project and region. How much of one is used, the addresses themselves say.

The project's row is locked by whoever changes a limit, and by whoever reserves an address.
"""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements

_FIND = Query("SELECT address_limit FROM address_quotas WHERE project_id = :project_id AND region = :region", int)
_SET = sa.text(
    """
    INSERT INTO address_quotas (project_id, region, address_limit) VALUES (:project_id, :region, :limit)
    ON CONFLICT (project_id, region) DO UPDATE SET address_limit = excluded.address_limit
    """
)
_FORGET = sa.text("DELETE FROM address_quotas WHERE project_id = :project_id AND region = :region")


async def address_limit(connection: Statements, *, project_id: UUID, region: str, default: int) -> int:
    """How many addresses the project may have in the region."""
    found = await _FIND.one_or_none(connection, {"project_id": project_id, "region": region})
    return default if found is None else found


async def set_address_limit(connection: AsyncConnection, *, project_id: UUID, region: str, limit: int | None) -> None:
    """Set the limit; None: it is the default again."""
    mine: dict[str, object] = {"project_id": project_id, "region": region}
    await connection.execute(*((_FORGET, mine) if limit is None else (_SET, mine | {"limit": limit})))
