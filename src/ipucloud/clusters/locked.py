"""A cluster under the lock of the transaction that changes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.models import AllocatedThrough
from ipucloud.clusters.states import ClusterState
from ipucloud.kernel.errors import NOT_FOUND, PRECONDITION_FAILED, Problem

_LOCK = sa.text(
    """
    SELECT clusters.state, clusters.version, clusters.name, clusters.tags, clusters.delete_protection,
           clusters.expires_at, clusters.allocated_through, site_regions.typical_seconds,
           coalesce(site_regions.vipu_secure, false) AS secure, app_now() AS now
      FROM clusters LEFT JOIN site_regions ON site_regions.region = clusters.region
     WHERE clusters.project_id = :project_id AND clusters.id = :cluster_id
       FOR NO KEY UPDATE OF clusters
    """
)


@dataclass(frozen=True, slots=True)
class LockedCluster:
    """What a request may have to look at before it changes a cluster; `now` is the database's time.

    `secure`: its region's V-IPU controller has users.
    """

    state: ClusterState
    version: int
    name: str
    tags: Mapping[str, str]
    delete_protection: bool
    expires_at: datetime | None
    allocated_through: AllocatedThrough
    typical_seconds: Mapping[str, float]
    secure: bool
    now: datetime

    def require_version(self, if_match: int | None) -> None:
        """Raise `Problem` precondition_failed when the caller saw another version; None: any will do."""
        if if_match is not None and if_match != self.version:
            raise Problem(
                PRECONDITION_FAILED,
                "The cluster has changed since it was read. Read it again, and repeat the request if it still applies.",
                extra={"version": self.version},
            )


async def lock_cluster(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> LockedCluster:
    """Lock the row until the transaction ends. Raises `Problem` not_found."""
    found = await connection.execute(_LOCK, {"project_id": project_id, "cluster_id": cluster_id})
    row = found.one_or_none()
    if row is None:
        raise no_such_cluster()
    return LockedCluster(
        state=ClusterState(row.state),
        version=row.version,
        name=row.name,
        tags=row.tags,
        delete_protection=row.delete_protection,
        expires_at=row.expires_at,
        allocated_through=AllocatedThrough(row.allocated_through),
        typical_seconds=row.typical_seconds or {},
        secure=row.secure,
        now=row.now,
    )


def no_such_cluster() -> Problem:
    """The same for one that never was and one of another project."""
    return Problem(NOT_FOUND, "There is no such object, or this token may not know it.")
