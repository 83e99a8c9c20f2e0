"""What is written of a job: its request, its stop, and what became of it."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.metrics import JOBS_ENDED, count_labelled
from ipucloud.clusters.servers import UNKNOWN_SERVER, lock_cluster_in_use, server_of
from ipucloud.contract.event_payloads.projects import JobEnded, JobOf
from ipucloud.contract.event_types.projects import (
    JOB_FAILED,
    JOB_QUEUED,
    JOB_RETRIED,
    JOB_STARTED,
    JOB_STOPPED,
    JOB_SUCCEEDED,
)
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.jobs import JobCreate, JobEndedBy, JobState
from ipucloud.db.documents import Fragment, clauses
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem, not_found
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.sealing import Keys
from ipucloud.programs.store import OF_IT, Record, key, require_runtime, started_as
from ipucloud.reconcile.wake import wake

JOBS = "jobs"
"""Kind of the work items of jobs; the key is the cluster's id."""
MAX_UNFINISHED = 100
"""Jobs of a cluster that have not ended."""

IN_USE_BY_JOBS = Fragment(
    "EXISTS (SELECT FROM jobs AS job WHERE job.project_id = c.project_id AND job.cluster_id = c.id"
    " AND job.ended_at IS NULL)"
)
"""Whether a cluster `c` has jobs that have not ended."""
LAST_JOB_ENDED = Fragment(
    "(SELECT max(job.ended_at) FROM jobs AS job WHERE job.project_id = c.project_id AND job.cluster_id = c.id)"
)
"""When the last job of a cluster `c` ended; NULL: it had none."""


class Job(NamedTuple):
    """A job under the lock of the transaction that changes it."""

    id: UUID
    project_id: UUID
    cluster_id: UUID
    number: int
    state: JobState
    attempt: int
    retries: int
    sent: bool
    stop_cause: str | None
    log_parts: int
    started_at: datetime | None
    limit_reached: bool
    max_minutes: int | None
    max_cost: Decimal | None
    currency: str


_COLUMNS = """
id, project_id, cluster_id, number, state, attempt, retries, sent_at IS NOT NULL AS sent, stop_cause, log_parts,
started_at, coalesce(started_at + make_interval(mins => max_minutes) <= app_now(), false) AS limit_reached,
max_minutes, max_cost, currency
"""


class _Facts(NamedTuple):
    last: int
    unfinished: int


_FACTS = Query(
    """
    SELECT coalesce(max(number), 0) AS last, count(*) FILTER (WHERE ended_at IS NULL) AS unfinished
      FROM jobs WHERE project_id = :project_id AND cluster_id = :cluster_id
    """,
    _Facts,
)
_INSERT = sa.text(
    """
    INSERT INTO jobs (id, project_id, cluster_id, server_id, number, command, directory, environment, image,
                      registry_username, registry_password, retries, max_minutes, max_cost, currency, created_by)
    VALUES (:id, :project_id, :cluster_id, :server_id, :number, CAST(:command AS jsonb), :directory,
            CAST(:environment AS jsonb), :image, :registry_username, :registry_password, :retries, :max_minutes,
            :max_cost, :currency, :created_by)
    """
)
_FIND = Query(
    f"""
    SELECT {_COLUMNS} FROM jobs
     WHERE project_id = :project_id AND cluster_id = :cluster_id
       AND (number::text = :ref OR id::text = lower(:ref))
       FOR NO KEY UPDATE
    """,  # noqa: S608  # our own text
    Job,
)
LOCK = Query(
    f"""
    SELECT {_COLUMNS} FROM jobs
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND ended_at IS NULL
     ORDER BY id FOR NO KEY UPDATE
    """,  # noqa: S608  # our own text
    Job,
)
"""The unfinished jobs of a cluster, locked."""
JOB_RECORD = Record("jobs", "job_logs", "job_id")
_STOP = sa.text(clauses("UPDATE jobs SET stop_requested_at = app_now(), stop_cause = :cause", OF_IT))
_STARTED = Query(
    clauses(
        """
        UPDATE jobs SET state = 'running', state_reason = NULL, started_at = coalesce(started_at, app_now()),
               observed_at = app_now()
        """,
        OF_IT,
        "RETURNING coalesce(started_at, app_now())",
    ),
    datetime,
)
_COST = sa.text(clauses("UPDATE jobs SET cost = :cost", OF_IT, "AND cost IS DISTINCT FROM :cost"))
_AGAIN = sa.text(
    clauses(
        """
        UPDATE jobs SET state = 'queued', state_reason = :why, attempt = attempt + 1, sent_at = NULL, log_bytes = 0,
               observed_at = app_now()
        """,
        OF_IT,
    )
)
_END = sa.text(
    clauses(
        """
        UPDATE jobs SET state = :state, state_reason = :why, ended_by = :ended_by, exit_status = :exit_status,
               registry_password = NULL, ended_at = app_now()
        """,
        OF_IT,
    )
)
_EVENTS: dict[JobState, EventType] = {
    JobState.SUCCEEDED: JOB_SUCCEEDED,
    JobState.FAILED: JOB_FAILED,
    JobState.STOPPED: JOB_STOPPED,
}


class Made(NamedTuple):
    """A job that was recorded."""

    id: UUID
    number: int


async def create(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, body: JobCreate, keys: Keys | None
) -> Made:
    """Record a program to run, with its event and work item.

    Raises `Problem`: not_found, state_conflict when the cluster is not in use or has too many jobs, no_containers,
    validation_failed.
    """
    cluster = await lock_cluster_in_use(connection, actor, cluster_id, "Jobs run")
    require_runtime(cluster, body)
    server = await server_of(connection, actor, cluster_id, body.poplar_server)
    ids = {"project_id": actor.project_id, "cluster_id": cluster_id}
    faults = []
    if server is None:
        faults.append(UNKNOWN_SERVER)
    if body.max_cost is not None and body.max_cost.currency != cluster.currency:
        faults.append(
            FieldError("/max_cost/currency", "other_currency", f"The cluster is paid for in {cluster.currency}.")
        )
    if server is None or faults:
        raise Problem(VALIDATION_FAILED, "The job was not recorded; `errors` says why.", faults)
    facts = await _FACTS.one(connection, ids)
    if facts.unfinished >= MAX_UNFINISHED:
        raise Problem(
            STATE_CONFLICT,
            f"{facts.unfinished} jobs of the cluster have not ended, as many as may. Wait for one, or stop one.",
        )
    job_id = new_id()
    await connection.execute(
        _INSERT,
        ids
        | started_as(body, keys, table="jobs", program=job_id, project=actor.project_id)
        | {
            "id": job_id,
            "server_id": server.id,
            "number": facts.last + 1,
            "retries": body.retries,
            "max_minutes": body.max_minutes,
            "max_cost": None if body.max_cost is None else body.max_cost.amount,
            "currency": cluster.currency,
            "created_by": actor.token_id,
        },
    )
    await record(
        connection,
        JOB_QUEUED,
        project_id=actor.project_id,
        subject_id=job_id,
        request_id=actor.request_id,
        data=JobOf(cluster=cluster_id, number=facts.last + 1, attempt=1),
    )
    await wake(connection, kind=JOBS, key=str(cluster_id), project_id=actor.project_id)
    return Made(job_id, facts.last + 1)


async def stop(connection: AsyncConnection, actor: Actor, cluster_id: UUID, ref: str) -> UUID:
    """Record that a job is to be stopped; one of which nothing was requested ends here. One that has ended stays.

    Raises `Problem` not_found.
    """
    job = await _FIND.one_or_none(connection, {"project_id": actor.project_id, "cluster_id": cluster_id, "ref": ref})
    if job is None:
        raise not_found()
    if job.state in _EVENTS or job.stop_cause is not None:
        return job.id
    await request_stop(connection, job, "request")
    if not job.sent:
        await end(connection, job, JobState.STOPPED, "request", why="stopped by request before it began")
    await wake(connection, kind=JOBS, key=str(cluster_id), project_id=actor.project_id)
    return job.id


async def request_stop(connection: AsyncConnection, job: Job, cause: str) -> None:
    """The job is to be stopped."""
    await connection.execute(_STOP, {**key(job), "cause": cause})


async def mark_running(connection: AsyncConnection, job: Job) -> Job:
    """Its program was seen to run; the job as it is then."""
    if job.state is JobState.RUNNING:
        await JOB_RECORD.mark_seen(connection, job)
        return job
    started_at = await _STARTED.one(connection, key(job))
    await _record(connection, JOB_STARTED, job, JobOf(cluster=job.cluster_id, number=job.number, attempt=job.attempt))
    return job._replace(state=JobState.RUNNING, started_at=started_at)


async def note_cost(connection: AsyncConnection, job: Job, cost: Decimal | None) -> None:
    """What its cluster has cost since the job's start."""
    await connection.execute(_COST, {**key(job), "cost": cost})


async def start_again(connection: AsyncConnection, job: Job, why: str) -> None:
    """Its program failed and is to be started once more, under another name."""
    await connection.execute(_AGAIN, {**key(job), "why": why})
    data = JobEnded(cluster=job.cluster_id, number=job.number, attempt=job.attempt, reason=why)
    await _record(connection, JOB_RETRIED, job, data)


async def end(
    connection: AsyncConnection,
    job: Job,
    state: JobState,
    ended_by: JobEndedBy,
    *,
    why: str | None = None,
    exit_status: int | None = None,
) -> None:
    """The job has ended."""
    values = {"state": state.value, "ended_by": ended_by, "why": why, "exit_status": exit_status}
    await connection.execute(_END, key(job) | values)
    count_labelled(connection, JOBS_ENDED, state.value, ended_by)
    data = JobEnded(
        cluster=job.cluster_id,
        number=job.number,
        attempt=job.attempt,
        ended_by=ended_by,
        exit_status=exit_status,
        reason=why,
    )
    await _record(connection, _EVENTS[state], job, data)


async def _record(connection: AsyncConnection, kind: EventType, job: Job, data: JobOf) -> None:
    await record(connection, kind, project_id=job.project_id, subject_id=job.id, data=data)
