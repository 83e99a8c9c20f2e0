"""Which SSH authority the servers of clusters trust: the periodic task that rolls a rotated one out.

A cluster gets the project's authority when it is created, and with each change of its keys. After a rotation, each
cluster is a transaction of its own, under its lock: after a worker is killed, the next run does the rest; of two
concurrent runs, the second finds nothing left to do.
"""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import lock_cluster
from ipucloud.clusters.operations.begin import begin
from ipucloud.clusters.operations.update_keys import DEADLINE, UPDATE_KEYS
from ipucloud.clusters.ssh_keys import trust_current_authority
from ipucloud.clusters.states import BILLABLE
from ipucloud.db.documents import ONE_DOCUMENT, READ_BACK, OneDocument, clauses, rfc3339
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.identity.access import authenticated
from ipucloud.identity.ssh_authorities import AUTHORITY_MEMBERS, OUTDATED
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import Problem

log = structlog.get_logger(__name__)

AT_ONCE = 1000
"""Most clusters in one run; the next run continues."""
PAUSE = timedelta(minutes=5)
"""After an operation that failed, until the next attempt."""
_PARAMETERS: dict[str, object] = {"states": sorted(BILLABLE), "limit": AT_ONCE, "pause": PAUSE}


class _Cluster(NamedTuple):
    project_id: UUID
    cluster_id: UUID


# Servers that trust a former authority still do when the operation that was to change that failed.
_WAITING = Query(
    clauses(
        "WITH authorities AS (",
        OUTDATED,
        """
    )
    SELECT c.project_id, c.id AS cluster_id FROM authorities AS a JOIN clusters AS c ON c.project_id = a.project_id
     WHERE (CAST(:cluster_id AS uuid) IS NULL OR c.id = :cluster_id)
       AND (c.state = ANY (CAST(:states AS text[])) OR c.state = 'suspended')
       AND NOT EXISTS (SELECT FROM operations AS o
                        WHERE o.project_id = c.project_id AND o.cluster_id = c.id AND o.partition_id IS NULL
                          AND o.finished_at IS NULL)
       AND (c.ssh_authority IS DISTINCT FROM a.public_key
            OR (c.state <> 'suspended'
                AND EXISTS (SELECT FROM poplar_servers AS s
                             WHERE s.project_id = c.project_id AND s.cluster_id = c.id
                               AND s.ssh_authority <> c.ssh_authority)
                AND NOT EXISTS (SELECT FROM operations AS o
                                 WHERE o.project_id = c.project_id AND o.cluster_id = c.id
                                   AND o.kind = 'cluster.update-keys'
                                   AND o.finished_at > app_now() - CAST(:pause AS interval))))
     ORDER BY c.project_id, c.id LIMIT :limit
        """,
    ),
    _Cluster,
)

_DOCUMENTS = clauses(
    "documents AS (SELECT 1 AS place, 1 AS version, json_build_object(",
    AUTHORITY_MEMBERS,
    ", 'created_at',",
    rfc3339("a.created_at"),
    """
    , 'pending_clusters', ARRAY(
      SELECT c.name FROM clusters AS c
       WHERE c.project_id = a.project_id AND c.state <> ALL (CAST(:gone AS text[]))
         AND EXISTS (SELECT FROM poplar_servers AS s
                      WHERE s.project_id = c.project_id AND s.cluster_id = c.id
                        AND s.ssh_authority IS DISTINCT FROM a.public_key)
       ORDER BY c.name LIMIT 100)) AS document
      FROM ssh_authorities AS a WHERE a.ended_at IS NULL AND a.project_id =
    """,
)
GET_AUTHORITY = authenticated(clauses(",", _DOCUMENTS, "(SELECT project_id FROM project))", ONE_DOCUMENT), OneDocument)
"""The project's authority. Parameter `:gone`: `GONE`."""
_READ_AUTHORITY = Query(clauses("WITH", _DOCUMENTS, ":project_id)", READ_BACK), str)
GONE = ["creating", "error", "deleting", "deleted"]
"""States of clusters of which no server is in use."""


async def authority_document(connection: AsyncConnection, project_id: UUID) -> str:
    """The JSON of the project's authority, inside the transaction that changed it."""
    return await _READ_AUTHORITY.one(connection, {"project_id": project_id, "gone": GONE})


async def roll_out_authorities(database: Database) -> None:
    """Have the servers of each project whose authority was rotated trust the new one."""
    async with database.read() as connection:
        waiting = await _WAITING.all(connection, _PARAMETERS | {"cluster_id": None})
    for project_id, cluster_id in waiting:
        try:
            async with database.begin() as connection:
                await _bring(connection, project_id, cluster_id)
        except Problem as problem:
            log.warning("ssh_authority_not_brought", cluster=str(cluster_id), problem=problem.kind.code)


async def _bring(connection: AsyncConnection, project_id: UUID, cluster_id: UUID) -> None:
    """A suspended cluster gets the authority when it is resumed."""
    cluster = await lock_cluster(connection, project_id=project_id, cluster_id=cluster_id)
    actor = Actor(project_id=project_id, token_id=None, request_id=f"ssh-authority-{cluster_id}")
    if await _WAITING.one_or_none(connection, _PARAMETERS | {"cluster_id": cluster_id}) is None:
        return  # it changed, or another worker was faster
    await trust_current_authority(connection, project_id=project_id, cluster_id=cluster_id)
    if cluster.state in BILLABLE:
        accepted = await begin(connection, actor, cluster, UPDATE_KEYS, deadline_seconds=DEADLINE)
        log.info("ssh_authority_brought", cluster=str(cluster_id), operation=str(accepted.operation_id))
