"""The file that says on a Poplar server when its cluster is preempted: what is to be there, kept under a revision.

Work items of the kind `PREEMPTION_FILES`, one for each cluster, bring it to the servers
(`policies/preemption_files.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.documents import clauses
from ipucloud.reconcile.wake import AWAKE, WAKE

PREEMPTION_FILES = "preemption-files"
"""Kind of the work items; the key is the cluster's id."""

_BUMP = sa.text(
    clauses(
        """
        WITH changed AS (
          UPDATE clusters SET notice_revision = notice_revision + 1
           WHERE project_id = :project_id AND id = :cluster_id
          RETURNING id, project_id
        )
        """,
        WAKE,
        "SELECT :kind, id::text, project_id, app_now() FROM changed",
        AWAKE,
    )
)

# A server that was rebuilt, or is of a later network, was not the one that answered.
_SEEN = sa.text(
    """
    UPDATE poplar_servers s SET notice_revision = :revision
      FROM clusters c
     WHERE c.project_id = :project_id AND c.id = :cluster_id AND c.external_name = :network
       AND s.project_id = c.project_id AND s.cluster_id = c.id AND s.ordinal = :ordinal
       AND s.generation = :generation AND s.state = 'running'
    """
)


async def show_on_servers(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> None:
    """Let the servers of the locked cluster have its present notice, or none any more."""
    ids = {"project_id": project_id, "cluster_id": cluster_id}
    await connection.execute(_BUMP, {**ids, "kind": PREEMPTION_FILES})


async def note_seen(connection: AsyncConnection, server: Mapping[str, object]) -> None:
    """The file was seen on a server of the locked cluster.

    `server`: the project_id and cluster_id, and as they were when it answered its network, ordinal and generation, and
    the revision of the file.
    """
    await connection.execute(_SEEN, server)
