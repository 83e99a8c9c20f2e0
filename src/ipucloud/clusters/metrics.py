"""Metrics of operations on clusters."""

from __future__ import annotations

import sqlalchemy as sa
from prometheus_client import Counter
from sqlalchemy.ext.asyncio import AsyncConnection

ISOLATED = Counter("hardware_isolated", "Machines and hosts that a clean-up left, to be cleaned later", ["kind"])
RETURNED = Counter(
    "hardware_returned", "Isolated or replaced machines and hosts that were observed good since", ["kind", "code"]
)
REPLACED = Counter(
    "hardware_replaced", "Machines and hosts for which an operation took others, by kind and step", ["kind", "step"]
)
REPAIRS_SCHEDULED = Counter(
    "repairs_scheduled", "Repairs of clusters that were scheduled: fault, maintenance", ["reason"]
)
REPAIRS_STARTED = Counter("repairs_started", "Scheduled repairs of clusters that began: fault, maintenance", ["reason"])
EXPIRY_WARNINGS = Counter("cluster_expiry_warnings", "Clusters that were announced to expire within an hour")

IDLE_SUSPENDED = Counter("clusters_suspended_idle", "Clusters that were suspended because nobody used them")
SCHEDULED_ACTIONS = Counter(
    "cluster_scheduled_actions",
    "What schedules of clusters did, by outcome: started, waiting, missed",
    ["action", "outcome"],
)
PREEMPTIONS = Counter(
    "cluster_preemptions",
    "Notices of preemptible clusters: scheduled, and how they ended: suspended, not_needed, not_in_use",
    ["outcome"],
)
JOBS_ENDED = Counter("cluster_jobs_ended", "Jobs that ended, by state and by what ended them", ["state", "ended_by"])
SERVICES_ENDED = Counter(
    "cluster_services_ended", "Services that ended, by state and by what ended them", ["state", "ended_by"]
)


def count(connection: AsyncConnection, counter: Counter) -> None:
    """Add one when the connection's transaction is committed: a result may still be dropped."""

    def increment(_: sa.Connection) -> None:
        counter.inc()

    sa.event.listen(connection.sync_connection, "commit", increment, once=True)


def count_labelled(connection: AsyncConnection, counter: Counter, *labels: str) -> None:
    """The same of a counter with these labels."""
    count(connection, counter.labels(*labels))
