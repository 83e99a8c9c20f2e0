"""The S3 connections that a cluster's servers are to have: chosen among the project's, kept under a revision.

Work items of the kind `S3_ACCESS`, one for each cluster, bring them to the servers (`clusters/s3_reconciler.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.server_settings import changing, renewing
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import IN_USE, VALIDATION_FAILED, FieldError, Problem, not_found

S3_ACCESS = "s3-access"
"""Kind of the work items; the key is the cluster's id."""
REVISION = "s3_revision"


class _Match(NamedTuple):
    id: UUID | None
    attachable: bool | None


# The lock keeps a connection from being deleted before the transaction ends.
_LOCK = Query(
    """
    SELECT id FROM s3_connections
     WHERE project_id = :project_id AND deleted_at IS NULL
       AND (name = ANY (CAST(:refs AS text[])) OR id::text = ANY (CAST(:refs AS text[])))
     ORDER BY id FOR SHARE
    """,
    UUID,
)
_FIND = Query(
    """
    SELECT DISTINCT ON (requested.place) k.id, k.attachable
      FROM unnest(CAST(:refs AS text[])) WITH ORDINALITY AS requested (ref, place)
      LEFT JOIN s3_connections k
        ON k.project_id = :project_id AND k.deleted_at IS NULL AND requested.ref IN (k.name, k.id::text)
     ORDER BY requested.place, k.name = requested.ref DESC
    """,
    _Match,
)
_PRESENT = Query(
    """
    SELECT connection_id FROM cluster_s3_connections
     WHERE project_id = :project_id AND cluster_id = :cluster_id ORDER BY place
    """,
    UUID,
)
_CLEAR = sa.text("DELETE FROM cluster_s3_connections WHERE project_id = :project_id AND cluster_id = :cluster_id")
_ADD = sa.text(
    """
    INSERT INTO cluster_s3_connections (project_id, cluster_id, connection_id, place)
    SELECT :project_id, :cluster_id, chosen.id, chosen.place
      FROM unnest(CAST(:ids AS uuid[])) WITH ORDINALITY AS chosen (id, place)
    """
)
_CHANGE, _RENEW = changing(REVISION), renewing(REVISION)
_HAVING = """
SELECT c.id, c.name FROM cluster_s3_connections a JOIN clusters c ON (c.project_id, c.id) = (a.project_id, a.cluster_id)
 WHERE a.project_id = :project_id AND a.connection_id = :connection_id AND c.deleted_at IS NULL ORDER BY c.id
"""


class _Having(NamedTuple):
    id: UUID
    name: str


_ATTACHED = Query(_HAVING, _Having)
_LOCK_ATTACHED = Query(_HAVING + " FOR NO KEY UPDATE OF c", _Having)
_LOCK_CONNECTION = Query(
    "SELECT id FROM s3_connections WHERE project_id = :project_id AND id = :connection_id AND deleted_at IS NULL"
    " FOR NO KEY UPDATE",
    UUID,
)


async def attach(connection: AsyncConnection, refs: Sequence[str], *, project_id: UUID, cluster_id: UUID) -> bool:
    """Let the servers of a locked cluster have the connections of these names or ids and no others; whether they
    differ from before. Raises `Problem` validation_failed."""
    ids = {"project_id": project_id, "cluster_id": cluster_id}
    present = await _PRESENT.all(connection, ids)
    chosen = await _chosen(connection, refs, project_id, present)
    if chosen == [*present]:
        return False
    await connection.execute(_CLEAR, ids)
    await connection.execute(_ADD, ids | {"ids": chosen})
    await _bump(connection, project_id, [cluster_id])
    return True


async def refuse_unknown(connection: Statements, refs: Sequence[str], *, project_id: UUID) -> None:
    """Raise `Problem` validation_failed for connections that a new cluster could not have; lock nothing."""
    if refs:
        await _resolve(connection, refs, project_id, ())


async def _chosen(
    connection: AsyncConnection, refs: Sequence[str], project_id: UUID, present: Sequence[UUID]
) -> list[UUID]:
    await _LOCK.all(connection, {"project_id": project_id, "refs": [*refs]})
    return await _resolve(connection, refs, project_id, present)


async def _resolve(
    connection: Statements, refs: Sequence[str], project_id: UUID, present: Sequence[UUID]
) -> list[UUID]:
    matches = await _FIND.all(connection, {"project_id": project_id, "refs": [*refs]})
    faults: list[FieldError] = []
    chosen: dict[UUID, None] = {}
    for place, match in enumerate(matches):
        if match.id is None:
            sentence = "The project has no S3 connection with this name or id; `GET …/s3-connections` lists them."
            faults.append(FieldError(f"/s3_connections/{place}", "unknown_s3_connection", sentence))
        elif not match.attachable and match.id not in present:
            sentence = "The connection is not for clusters; `attachable` of the connection permits it."
            faults.append(FieldError(f"/s3_connections/{place}", "not_attachable", sentence))
        else:
            chosen[match.id] = None
    if faults:
        raise Problem(VALIDATION_FAILED, "The connections cannot be attached; `errors` lists the reasons.", faults)
    return [*chosen]


async def lock_attached(connection: AsyncConnection, project_id: UUID, connection_id: UUID) -> None:
    """Lock the clusters that have the connection: clusters come before connections in the order of locks."""
    await _LOCK_ATTACHED.all(connection, {"project_id": project_id, "connection_id": connection_id})


async def roll_out(connection: AsyncConnection, project_id: UUID, connection_id: UUID) -> None:
    """Bring what changed about a connection to every server that has it."""
    having = await _ATTACHED.all(connection, {"project_id": project_id, "connection_id": connection_id})
    if having:
        await _bump(connection, project_id, [each.id for each in having])


async def refuse_if_attached(connection: AsyncConnection, project_id: UUID, connection_id: UUID) -> None:
    """Lock the connection. Raises `Problem`: not_found, in_use by a cluster."""
    ids = {"project_id": project_id, "connection_id": connection_id}
    if await _LOCK_CONNECTION.one_or_none(connection, ids) is None:
        raise not_found()
    having = await _ATTACHED.all(connection, ids)
    if having:
        names = ", ".join(each.name for each in having[:5])
        raise Problem(IN_USE, f"Clusters have the connection: {names}. Change `s3_connections` of each first.")


async def renew(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, ordinals: Sequence[int]) -> None:
    """Servers have started: look again at whether they have the cluster's connections."""
    values = {"project_id": project_id, "cluster_id": cluster_id, "ordinals": [*ordinals], "kind": S3_ACCESS}
    await connection.execute(_RENEW, values)


async def _bump(connection: AsyncConnection, project_id: UUID, clusters: Sequence[UUID]) -> None:
    await connection.execute(_CHANGE, {"project_id": project_id, "clusters": [*clusters], "kind": S3_ACCESS})
