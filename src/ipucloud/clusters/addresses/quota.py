"""The quotas of a project's addresses: how many it may have in each region, and has."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.queries import ADDRESS_SKU
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import QUOTA_EXCEEDED, STATE_CONFLICT, Problem
from ipucloud.quotas.counted import address_limit, set_address_limit
from ipucloud.quotas.store import Quota


def held_addresses(project: str, region: str) -> str:
    """SQL of how many addresses a project has in a region."""
    return f"""(
  SELECT count(*) FROM addresses AS held
   WHERE held.project_id = {project} AND held.region = {region}
     AND held.state NOT IN ('deleted', 'deleting', 'error'))
"""  # noqa: S608  # our own text


_HELD = Query(f"SELECT {held_addresses(':project_id', ':region')} AS held", int)  # our own text
_LIST = Query(
    f"""
    SELECT place.region, :sku AS machine_type, coalesce(q.address_limit, CAST(:default AS integer)) AS limit,
           {held_addresses(":project_id", "place.region")} AS used
      FROM (SELECT region FROM prices WHERE sku = :sku AND (valid_to IS NULL OR valid_to > app_now())
             UNION SELECT region FROM address_quotas WHERE project_id = :project_id
             UNION SELECT region FROM addresses WHERE project_id = :project_id AND state <> 'deleted') AS place
      LEFT JOIN address_quotas q ON q.project_id = :project_id AND q.region = place.region
     ORDER BY place.region
    """,  # noqa: S608  # our own text
    Quota,
)


async def list_address_quotas(connection: Statements, *, project_id: UUID, default: int) -> list[Quota]:
    """Those of every region in which addresses are offered, or the project has some; `machine_type` is their SKU."""
    return await _LIST.all(connection, {"project_id": project_id, "default": default, "sku": ADDRESS_SKU})


async def require_address_quota(connection: AsyncConnection, *, project_id: UUID, region: str, default: int) -> None:
    """Raise `Problem` quota_exceeded when one more address does not fit.

    The project is locked, so two requests at once cannot both have the last one.
    """
    used = await _HELD.one(connection, {"project_id": project_id, "region": region})
    limit = await address_limit(connection, project_id=project_id, region=region, default=default)
    if used >= limit:
        sentence = (
            f"The project has {used} of the {limit} addresses that it may have in {region}. Delete one, or ask for a"
            f" higher quota (`ipucloud quotas request {region} {ADDRESS_SKU} {used + 1} REASON`)."
        )
        numbers = {"wanted": 1, "limit": limit, "used": used}
        why_not = {"reason": "quota", "detail": sentence, "numbers": numbers}
        raise Problem(QUOTA_EXCEEDED, sentence, extra={"why_not": why_not})


async def change_address_limit(
    connection: AsyncConnection, *, project_id: UUID, region: str, limit: int | None, default: int
) -> None:
    """Set the limit of a locked project; None: the default. Raises `Problem` state_conflict below what it has."""
    used = await _HELD.one(connection, {"project_id": project_id, "region": region})
    if used > (default if limit is None else limit):
        raise Problem(
            STATE_CONFLICT,
            f"The project has {used} {'address' if used == 1 else 'addresses'} in {region}, more than this limit."
            " Choose a higher one, or have some deleted first.",
        )
    await set_address_limit(connection, project_id=project_id, region=region, limit=limit)
