"""Taking machines from a project's quota, and setting it. Every function works inside the caller's transaction."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import QUOTA_EXCEEDED, STATE_CONFLICT, Problem


class Quota(NamedTuple):
    """How many machines of a type a project may hold in a region, and how many it holds."""

    region: str
    machine_type: str
    limit: int
    used: int

    @property
    def remaining(self) -> int:
        return self.limit - self.used


# One statement decides and takes: two requests at once cannot both have the last machine of a quota.
_TAKE = sa.text(
    """
    UPDATE quotas SET used = used + :machines
     WHERE project_id = :project_id AND region = :region AND machine_type = :machine_type
       AND used + :machines <= machine_limit
    """
)
_GIVE_BACK = sa.text(
    """
    UPDATE quotas SET used = used - :machines
     WHERE project_id = :project_id AND region = :region AND machine_type = :machine_type
    """
)
_FIND = Query(
    """
    SELECT region, machine_type, machine_limit AS limit, used FROM quotas
     WHERE project_id = :project_id AND region = :region AND machine_type = :machine_type
    """,
    Quota,
)
_LIST = Query(
    """
    SELECT region, machine_type, machine_limit AS limit, used FROM quotas
     WHERE project_id = :project_id ORDER BY region, machine_type
    """,
    Quota,
)
_SET = Query(
    """
    INSERT INTO quotas AS q (project_id, region, machine_type, machine_limit)
    VALUES (:project_id, :region, :machine_type, :machine_limit)
    ON CONFLICT (project_id, region, machine_type) DO UPDATE SET machine_limit = excluded.machine_limit
     WHERE q.used <= excluded.machine_limit
    RETURNING region, machine_type, machine_limit AS limit, used
    """,
    Quota,
)


async def consume(
    connection: AsyncConnection, *, project_id: UUID, region: str, machine_type: str, machines: int
) -> None:
    """Take machines, or raise `Problem` quota_exceeded with the numbers. They return when they are free again."""
    key = {"project_id": project_id, "region": region, "machine_type": machine_type}
    result = await connection.execute(_TAKE, key | {"machines": machines})
    if result.rowcount == 0:
        quota = await find(connection, project_id=project_id, region=region, machine_type=machine_type)
        raise exceeded(quota, machines)


async def give_back(
    connection: AsyncConnection, *, project_id: UUID, region: str, machine_type: str, machines: int
) -> None:
    """Return machines to the quota."""
    key = {"project_id": project_id, "region": region, "machine_type": machine_type}
    await connection.execute(_GIVE_BACK, key | {"machines": machines})


async def find(connection: Statements, *, project_id: UUID, region: str, machine_type: str) -> Quota:
    """The current quota; one that was never set is 0 machines."""
    key = {"project_id": project_id, "region": region, "machine_type": machine_type}
    return await _FIND.one_or_none(connection, key) or Quota(region, machine_type, 0, 0)


async def list_quotas(connection: Statements, *, project_id: UUID) -> list[Quota]:
    """Every quota that was set, by region and machine type."""
    return await _LIST.all(connection, {"project_id": project_id})


async def set_limit(
    connection: AsyncConnection, *, project_id: UUID, region: str, machine_type: str, machines: int
) -> Quota:
    """Set the limit. Raises `Problem` state_conflict when the project already holds more machines."""
    key = {"project_id": project_id, "region": region, "machine_type": machine_type}
    quota = await _SET.one_or_none(connection, key | {"machine_limit": machines})
    if quota is None:
        raise Problem(
            STATE_CONFLICT,
            "The project holds more machines than this limit. Choose a higher limit, or have clusters deleted first.",
        )
    return quota


def exceeded(quota: Quota, machines: int) -> Problem:
    """409 with the numbers that show what would still fit."""
    needed = "1 machine" if machines == 1 else f"{machines} machines"
    sentence = (
        f"The cluster needs {needed}; of the project's quota of {quota.limit} there are {max(0, quota.remaining)} left."
        " Delete a cluster, choose a smaller flavor, or ask for a higher quota (`ipucloud quotas request"
        f" {quota.region} {quota.machine_type} {quota.used + machines} REASON`)."
    )
    numbers = {"wanted": machines, "limit": quota.limit, "used": quota.used}
    return Problem(
        QUOTA_EXCEEDED, sentence, extra={"why_not": {"reason": "quota", "detail": sentence, "numbers": numbers}}
    )
