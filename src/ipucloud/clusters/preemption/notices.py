"""The notice of a preemptible cluster: what is written of it, always under the cluster's lock."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import set_reason
from ipucloud.clusters.metrics import PREEMPTIONS, count_labelled
from ipucloud.clusters.preemption.server_files import show_on_servers
from ipucloud.contract.capacity import PreemptionOutcome
from ipucloud.contract.event_payloads.clusters import ClusterPreempted, PreemptionScheduled, PreemptionWithdrawn
from ipucloud.contract.event_types.clusters import (
    CLUSTER_PREEMPTED,
    CLUSTER_PREEMPTION_SCHEDULED,
    CLUSTER_PREEMPTION_WITHDRAWN,
)
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id

SHOWN_NOTICE = """
LEFT JOIN preemptions AS notice
  ON notice.project_id = page.project_id AND notice.cluster_id = page.id AND notice.ended_at IS NULL
"""
"""A join that adds `notice.preempt_at` to a `page` of clusters."""


class Notice(NamedTuple):
    """A cluster that was told that it is suspended at `preempt_at`."""

    id: UUID
    project_id: UUID
    cluster_id: UUID
    preempt_at: datetime


_OPEN = Query(
    """
    SELECT id, project_id, cluster_id, preempt_at FROM preemptions
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND ended_at IS NULL
    """,
    Notice,
)
_WRITE = Query(
    """
    INSERT INTO preemptions (id, project_id, cluster_id, noticed_at, preempt_at)
    VALUES (:id, :project_id, :cluster_id, app_now(), app_now() + :notice)
    RETURNING id, project_id, cluster_id, preempt_at
    """,
    Notice,
)
_END = sa.text(
    """
    UPDATE preemptions SET ended_at = app_now(), outcome = :outcome, operation_id = :operation_id
     WHERE project_id = :project_id AND id = :id
    """
).bindparams(sa.bindparam("operation_id", type_=sa.Uuid))
_TOUCH = sa.text("UPDATE clusters SET version = version + 1 WHERE project_id = :project_id AND id = :cluster_id")


async def open_notice(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> Notice | None:
    """The notice of a locked cluster; None: it has none."""
    return await _OPEN.one_or_none(connection, {"project_id": project_id, "cluster_id": cluster_id})


async def give_notice(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, notice: timedelta) -> None:
    """Tell the locked cluster that it is suspended after this time."""
    ids = {"project_id": project_id, "cluster_id": cluster_id}
    written = await _WRITE.one(connection, {"id": new_id(), "notice": notice, **ids})
    await connection.execute(_TOUCH, ids)
    await show_on_servers(connection, **ids)
    count_labelled(connection, PREEMPTIONS, "scheduled")
    await record(
        connection,
        CLUSTER_PREEMPTION_SCHEDULED,
        project_id=project_id,
        subject_id=cluster_id,
        request_id=request_of(cluster_id),
        data=PreemptionScheduled(preempt_at=written.preempt_at),
    )
    failpoint("preemption.noticed")


async def withdraw(connection: AsyncConnection, notice: Notice, outcome: PreemptionOutcome) -> None:
    """End the notice of a locked cluster, which is not suspended for it."""
    ids = {"project_id": notice.project_id, "cluster_id": notice.cluster_id}
    await _end(connection, notice, outcome)
    await connection.execute(_TOUCH, ids)
    await show_on_servers(connection, **ids)
    await record(
        connection,
        CLUSTER_PREEMPTION_WITHDRAWN,
        project_id=notice.project_id,
        subject_id=notice.cluster_id,
        request_id=request_of(notice.cluster_id),
        data=PreemptionWithdrawn(preempt_at=notice.preempt_at, outcome=outcome),
    )
    failpoint("preemption.withdrawn")


async def carried_out(connection: AsyncConnection, notice: Notice, operation_id: UUID) -> None:
    """The operation suspends the locked cluster. The file stays on its servers until they are switched off."""
    await _end(connection, notice, "suspended", operation_id)
    why = "preempted: a cluster that waited for capacity needed its machines"
    await set_reason(connection, notice.project_id, notice.cluster_id, why)
    await record(
        connection,
        CLUSTER_PREEMPTED,
        project_id=notice.project_id,
        subject_id=notice.cluster_id,
        operation_id=operation_id,
        request_id=request_of(notice.cluster_id),
        data=ClusterPreempted(preempt_at=notice.preempt_at),
    )
    failpoint("preemption.begun")


async def _end(
    connection: AsyncConnection, notice: Notice, outcome: PreemptionOutcome, operation_id: UUID | None = None
) -> None:
    ended = {"project_id": notice.project_id, "id": notice.id, "outcome": outcome, "operation_id": operation_id}
    await connection.execute(_END, ended)
    count_labelled(connection, PREEMPTIONS, outcome)


def request_of(cluster_id: UUID) -> str:
    """The id that marks what the service does about a notice."""
    return f"preemption-{cluster_id}"
