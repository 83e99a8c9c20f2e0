"""Keeping the rows of pods equal to their machines."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query

_SETTLE = Query("SELECT settle_pods(:pods)", int)


async def settle(connection: AsyncConnection, pod_ids: Collection[UUID]) -> int:
    """Compute the masks of these pods, and of their runs, from the machines, their own hosts and their allocations.

    Whoever frees, releases, quarantines or returns machines calls it in the same transaction, once for all their pods,
    after the changes: it locks the pods until the end, and pods locked twice would be locked in no common order. Hosts
    of the region's pool come after it in the order of locks. Returns how many pods it changed.
    """
    return await _SETTLE.one(connection, {"pods": sorted(set(pod_ids))}) if pod_ids else 0
