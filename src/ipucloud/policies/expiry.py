"""The end of clusters that have an `expires_at`: a warning an hour before, and the deletion.

Each cluster is a transaction of its own, under its lock: after a worker is killed, the next run does the rest.
"""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import lock_cluster
from ipucloud.clusters.metrics import EXPIRY_WARNINGS, count
from ipucloud.clusters.operations.delete import delete
from ipucloud.clusters.update import MAY_EXPIRE, note_expiry_warning
from ipucloud.config import Settings
from ipucloud.contract.event_payloads.clusters import ClusterExpires
from ipucloud.contract.event_types.clusters import CLUSTER_EXPIRING
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.failpoints import failpoint

NOTICE = timedelta(hours=1)
"""Before `expires_at`, when `cluster.expiring` is recorded; at once if it is set to a time that is nearer."""
AT_ONCE = 100
"""Most clusters of each kind in one run; the next run continues."""


class _Due(NamedTuple):
    id: UUID
    project_id: UUID


_EXPIRED = Query(
    f"""
    SELECT id, project_id FROM clusters WHERE expires_at <= app_now() AND {MAY_EXPIRE} ORDER BY expires_at LIMIT :limit
    """,  # noqa: S608  # our own text
    _Due,
)
_EXPIRING = Query(
    f"""
    SELECT id, project_id FROM clusters
     WHERE expires_at > app_now() AND expires_at <= app_now() + :notice AND expiry_warned_at IS NULL AND {MAY_EXPIRE}
     ORDER BY expires_at LIMIT :limit
    """,  # noqa: S608  # our own text
    _Due,
)


async def expire(database: Database, settings: Settings) -> None:
    """Warn of clusters that expire soon, and delete those that have expired."""
    await warn_of_expiry(database)
    await delete_expired_clusters(database, settings)


async def warn_of_expiry(database: Database) -> int:
    """Record `cluster.expiring` once for each `expires_at` that comes within an hour; how many.

    A protected cluster is not warned of: it is not deleted. A change of `expires_at` clears `expiry_warned_at`.
    """
    async with database.read() as connection:
        expiring = await _EXPIRING.all(connection, {"notice": NOTICE, "limit": AT_ONCE})
    warned = 0
    for cluster in expiring:
        async with database.begin() as connection:
            warned += await _warn(connection, cluster.project_id, cluster.id)
    return warned


async def _warn(connection: AsyncConnection, project_id: UUID, cluster_id: UUID) -> bool:
    cluster = await lock_cluster(connection, project_id=project_id, cluster_id=cluster_id)
    if not await note_expiry_warning(connection, cluster, NOTICE) or cluster.expires_at is None:
        return False
    await record(
        connection,
        CLUSTER_EXPIRING,
        project_id=project_id,
        subject_id=cluster_id,
        request_id=f"expiry-{cluster_id}",
        data=ClusterExpires(expires_at=cluster.expires_at),
    )
    count(connection, EXPIRY_WARNINGS)
    failpoint("expiry.warned")
    return True


async def delete_expired_clusters(database: Database, settings: Settings) -> None:
    """Delete clusters past their `expires_at`; protected ones stay."""
    async with database.read() as connection:
        expired = await _EXPIRED.all(connection, {"limit": AT_ONCE})
    for cluster in expired:
        actor = Actor(project_id=cluster.project_id, token_id=None, request_id=f"expiry-{cluster.id}")
        async with database.begin() as connection:
            await delete(connection, actor, cluster.id, if_match=None, settings=settings)
