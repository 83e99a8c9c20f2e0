"""The quotas of a project's volumes and snapshots: how many GiB they may have in each region, and have."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.queries import VOLUME_SKU
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import QUOTA_EXCEEDED, STATE_CONFLICT, Problem
from ipucloud.quotas.counted import set_volume_limit, volume_limit
from ipucloud.quotas.store import Quota


def held_gib(project: str, region: str) -> str:
    """SQL of the GiB that a project's volumes and snapshots have in a region; a volume that grows counts with its new
    size."""
    return f"""(
  SELECT coalesce(sum(held.gib), 0)::bigint
    FROM (SELECT coalesce(v.wanted_gib, v.size_gib) AS gib, v.project_id, v.region, v.state FROM volumes v
           UNION ALL SELECT coalesce(s.size_gib, 1), s.project_id, s.region, s.state FROM snapshots s) AS held
   WHERE held.project_id = {project} AND held.region = {region}
     AND held.state NOT IN ('deleted', 'deleting', 'error'))
"""  # noqa: S608  # our own text


_HELD = Query(f"SELECT {held_gib(':project_id', ':region')} AS gib", int)  # our own text
_LIST = Query(
    f"""
    SELECT place.region, :sku AS machine_type, coalesce(q.gib_limit, CAST(:default AS integer)) AS limit,
           {held_gib(":project_id", "place.region")} AS used
      FROM (SELECT region FROM prices WHERE sku = :sku AND (valid_to IS NULL OR valid_to > app_now())
             UNION SELECT region FROM volume_quotas WHERE project_id = :project_id
             UNION SELECT region FROM volumes WHERE project_id = :project_id AND state <> 'deleted'
             UNION SELECT region FROM snapshots WHERE project_id = :project_id AND state <> 'deleted') AS place
      LEFT JOIN volume_quotas q ON q.project_id = :project_id AND q.region = place.region
     ORDER BY place.region
    """,  # noqa: S608  # our own text
    Quota,
)


async def list_volume_quotas(connection: Statements, *, project_id: UUID, default: int) -> list[Quota]:
    """Those of every region in which volumes are offered, or the project has volumes or snapshots; `machine_type` is
    the SKU of volumes."""
    return await _LIST.all(connection, {"project_id": project_id, "default": default, "sku": VOLUME_SKU})


async def require_volume_quota(
    connection: AsyncConnection, *, project_id: UUID, region: str, more: int, default: int
) -> None:
    """Raise `Problem` quota_exceeded when so many GiB more do not fit.

    The project is locked, so two requests at once cannot both have the last GiB.
    """
    used = await _HELD.one(connection, {"project_id": project_id, "region": region})
    limit = await volume_limit(connection, project_id=project_id, region=region, default=default)
    if used + more > limit:
        sentence = (
            f"{more} GiB more are needed; of the {limit} GiB that volumes and snapshots of the project may have in"
            f" {region} there are {max(0, limit - used)} left. Delete one, choose a smaller size, or ask for a"
            f" higher quota (`ipucloud quotas request {region} {VOLUME_SKU} {used + more} REASON`)."
        )
        numbers = {"wanted": more, "limit": limit, "used": used}
        why_not = {"reason": "quota", "detail": sentence, "numbers": numbers}
        raise Problem(QUOTA_EXCEEDED, sentence, extra={"why_not": why_not})


async def change_volume_limit(
    connection: AsyncConnection, *, project_id: UUID, region: str, gib: int | None, default: int
) -> None:
    """Set the limit of a locked project; None: the default. Raises `Problem` state_conflict below what it uses."""
    used = await _HELD.one(connection, {"project_id": project_id, "region": region})
    if used > (default if gib is None else gib):
        raise Problem(
            STATE_CONFLICT,
            f"The project's volumes and snapshots in {region} have {used} GiB, more than this limit. Choose a higher"
            " one, or have some deleted first.",
        )
    await set_volume_limit(connection, project_id=project_id, region=region, gib=gib)
