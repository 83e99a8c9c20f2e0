"""The file that says on a Poplar server when its cluster is preempted: what is to be there, kept under a revision.

Work items of the kind `PREEMPTION_FILES`, one for each cluster, bring it to the servers
(`policies/preemption_files.py`).
"""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.server_settings import changing, seeing

PREEMPTION_FILES = "preemption-files"
"""Kind of the work items; the key is the cluster's id."""
REVISION = "notice_revision"
SEEN = seeing(f"{REVISION} = :revision")
_CHANGE = changing(REVISION)


async def show_on_servers(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> None:
    """Let the servers of the locked cluster have its present notice, or none any more."""
    await connection.execute(_CHANGE, {"project_id": project_id, "clusters": [cluster_id], "kind": PREEMPTION_FILES})
