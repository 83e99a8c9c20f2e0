"""The periodic task that suspends clusters that nobody uses.

Each is suspended in a transaction of its own, under its lock, with the observation that proves it: after a worker is
killed, the next run suspends the rest; of two concurrent runs, the second finds nothing left to do.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.idle.store import IN_USE
from ipucloud.clusters.locks import lock_cluster, set_reason
from ipucloud.clusters.metrics import IDLE_SUSPENDED, count
from ipucloud.clusters.operations.suspend import suspend
from ipucloud.config import Settings
from ipucloud.contract.event_payloads.clusters import IdleServer, SuspendedIdle
from ipucloud.contract.event_types.clusters import CLUSTER_IDLE_SUSPENDED
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.programs.jobs.store import IN_USE_BY_JOBS, LAST_JOB_ENDED
from ipucloud.programs.services.store import IN_USE_BY_SERVICES

log = structlog.get_logger(__name__)

AT_ONCE = 1000
"""Most clusters in one run; the next run continues."""


class _Idle(NamedTuple):
    """A cluster that nobody has used since `since` for as long as its customer allows."""

    project_id: UUID
    cluster_id: UUID
    minutes: int
    since: datetime


# Jobs and services that have not ended are use. It counts from the last use, from the end of the last job and of
# the last operation, and from when the customer asked for it.
_DUE = Query(
    f"""
    SELECT c.project_id, c.id AS cluster_id, c.idle_suspend_minutes AS minutes, used.since
      FROM clusters AS c
      CROSS JOIN LATERAL (
        SELECT count(*) AS servers, max(uses.idle_since) AS since,
               count(uses.idle_since) FILTER (WHERE uses.observed_at > app_now() - CAST(:fresh AS interval)) AS idle
          FROM poplar_servers AS s LEFT JOIN server_uses AS uses ON uses.server_id = s.id
         WHERE s.project_id = c.project_id AND s.cluster_id = c.id
      ) AS used
     WHERE c.idle_suspend_minutes IS NOT NULL AND c.deleted_at IS NULL AND c.state IN ({IN_USE})
       AND (CAST(:cluster_id AS uuid) IS NULL OR c.id = CAST(:cluster_id AS uuid))
       AND used.servers > 0 AND used.idle = used.servers AND NOT {IN_USE_BY_JOBS}
       AND NOT {IN_USE_BY_SERVICES}
       AND greatest(used.since, c.idle_counted_from, {LAST_JOB_ENDED},
                    (SELECT max(coalesce(o.finished_at, 'infinity')) FROM operations AS o
                      WHERE o.project_id = c.project_id AND o.cluster_id = c.id
                        AND NOT (o.kind = 'cluster.resize' AND o.finished_at IS NULL)))
           <= app_now() - make_interval(mins => c.idle_suspend_minutes)
     ORDER BY used.since, c.id LIMIT :limit
    """,  # noqa: S608  # our own text
    _Idle,
)


class _Proof(NamedTuple):
    name: str
    sessions: int | None
    attached_ipus: int | None
    idle_since: datetime | None
    observed_at: datetime


_PROOF = Query(
    """
    SELECT s.name, uses.sessions, uses.attached_ipus, uses.idle_since, uses.observed_at
      FROM poplar_servers AS s JOIN server_uses AS uses ON uses.server_id = s.id
     WHERE s.project_id = :project_id AND s.cluster_id = :cluster_id ORDER BY s.ordinal
    """,
    _Proof,
)


async def suspend_idle(settings: Settings, database: Database) -> None:
    """Suspend every cluster that nobody has used for its `idle_suspend_minutes`."""
    limits = {"fresh": timedelta(seconds=settings.observation_expires), "limit": AT_ONCE}
    async with database.read() as connection:
        due = await _DUE.all(connection, {"cluster_id": None, **limits})
    for cluster in due:
        try:
            async with database.begin() as connection:
                await lock_cluster(connection, project_id=cluster.project_id, cluster_id=cluster.cluster_id)
                still = await _DUE.one_or_none(connection, {"cluster_id": cluster.cluster_id, **limits})
                if still is not None:
                    await _suspend(connection, still, settings)
        except Problem as problem:
            log.info("idle_cluster_not_suspended", cluster=str(cluster.cluster_id), problem=problem.kind.code)


async def _suspend(connection: AsyncConnection, idle: _Idle, settings: Settings) -> None:
    """Raises `Problem` as `suspend` does."""
    proof = await _PROOF.all(connection, {"project_id": idle.project_id, "cluster_id": idle.cluster_id})
    actor = Actor(project_id=idle.project_id, token_id=None, request_id=f"idle-{idle.cluster_id}")
    accepted = await suspend(connection, actor, idle.cluster_id, if_match=None, settings=settings)
    why = f"nobody has used it since {idle.since:%Y-%m-%d %H:%M} UTC; idle_suspend_minutes is {idle.minutes}"
    await set_reason(connection, idle.project_id, idle.cluster_id, why)
    await record(
        connection,
        CLUSTER_IDLE_SUSPENDED,
        project_id=idle.project_id,
        subject_id=idle.cluster_id,
        operation_id=accepted.operation_id,
        request_id=actor.request_id,
        data=SuspendedIdle(
            idle_suspend_minutes=idle.minutes,
            idle_since=idle.since,
            poplar_servers=[IdleServer.model_validate(each._asdict()) for each in proof],
        ),
    )
    count(connection, IDLE_SUSPENDED)
    failpoint("idle.suspended")
