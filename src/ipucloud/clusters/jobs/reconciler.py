"""Runs the jobs of a cluster: one at a time on each Poplar server, in the order in which they were requested."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.pricing.usage import cost_since
from ipucloud.clusters.jobs import store
from ipucloud.clusters.jobs.output import text_of
from ipucloud.clusters.jobs.store import JOBS, Job
from ipucloud.clusters.states import BILLABLE
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.jobs import JobEndedBy, JobState
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.money import Money
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem, inputs_of
from ipucloud.site.errors import SiteError, SiteRefused
from ipucloud.site.ports import Hosts, Sites
from ipucloud.wire.site import Job as Seen
from ipucloud.wire.site import JobRequest

log = structlog.get_logger(__name__)

LOOK_SECONDS = 2.0
"""Usually between two looks at a program that runs: its output is read as often, and its limits are applied."""
WAITING_SECONDS = 15.0
"""Between two looks at a cluster that is not in use."""
_OVER = frozenset({ClusterState.ERROR, ClusterState.DELETING, ClusterState.DELETED})
_ENDED_BY: dict[str, JobEndedBy] = {"request": "request", "time_limit": "time_limit", "cost_limit": "cost_limit"}
_OFF = "its server was restarted, switched off or lost"


@dataclass(frozen=True, slots=True)
class Current:
    """The job of a server whose turn it is; `host` None: the cluster does not have the server any more."""

    id: UUID
    state: JobState
    attempt: int
    sent: bool
    stopping: bool
    log_bytes: int
    command: tuple[str, ...]
    directory: str | None
    environment: dict[str, str]
    server: str
    generation: int
    host: str | None

    @property
    def name(self) -> str:
        """Of this start of the program, at the site."""
        return f"job-{self.id}-{self.attempt}"


@dataclass(frozen=True, slots=True)
class ClusterJobs:
    """The jobs of a cluster that has the `network` of this name."""

    project_id: UUID
    cluster_id: UUID
    state: ClusterState
    network: str
    jobs: tuple[Current, ...]
    currency: str


@dataclass(frozen=True, slots=True)
class Due:
    """Nothing was requested yet; it can be, once that is recorded."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The server does not have it, or runs no more."""


@dataclass(frozen=True, slots=True)
class Silent:
    """The site was not reached, or said nothing that can be relied on."""

    why: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The site will not run it."""

    why: str


Result: TypeAlias = Seen | Due | Lost | Silent | Refused


class _Row(NamedTuple):
    leased: bool
    project_id: UUID | None
    cluster_id: UUID | None
    state: ClusterState | None
    network: str | None
    currency: str | None
    jobs: list[dict[str, Any]]


_LOAD = Query(
    """
    SELECT w.lease_until > app_now() AS leased, c.project_id, c.id AS cluster_id, c.state,
           c.external_name AS network, c.currency,
           (SELECT coalesce(json_agg(json_build_object(
                     'id', j.id, 'state', j.state, 'attempt', j.attempt, 'sent', j.sent_at IS NOT NULL,
                     'stopping', j.stop_requested_at IS NOT NULL, 'log_bytes', j.log_bytes, 'command', j.command,
                     'directory', j.directory, 'environment', j.environment, 'server', s.name,
                     'generation', s.generation, 'host', h.name) ORDER BY j.number), '[]')
              FROM (SELECT DISTINCT ON (server_id) * FROM jobs
                     WHERE project_id = c.project_id AND cluster_id = c.id AND ended_at IS NULL
                     ORDER BY server_id, state = 'queued', number) AS j
              JOIN poplar_servers AS s ON (s.project_id, s.id) = (j.project_id, j.server_id)
              LEFT JOIN allocations AS held
                ON (held.project_id, held.cluster_id, held.ordinal) = (s.project_id, s.cluster_id, s.ordinal)
               AND held.host_id IS NOT NULL AND held.released_at IS NULL
              LEFT JOIN hosts AS h ON h.id = held.host_id) AS jobs
      FROM work AS w LEFT JOIN clusters AS c ON c.id = CAST(w.key AS uuid)
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """,
    _Row,
)


class JobReconciler:
    """Runs the jobs of one cluster. `poll_interval`: seconds between two looks at a program that runs."""

    kind = JOBS

    def __init__(self, sites: Sites, *, poll_interval: float) -> None:
        self._sites = sites
        self._poll_interval = poll_interval

    async def load(self, connection: Statements, item: WorkItem) -> ClusterJobs | Outcome:
        row = await inputs_of(connection, _LOAD, item)
        if not row.jobs or row.cluster_id is None or row.project_id is None or row.state is None:
            return Done()
        jobs = tuple(
            Current(
                **each | {"id": UUID(each["id"]), "state": JobState(each["state"]), "command": tuple(each["command"])}
            )
            for each in row.jobs
        )
        return ClusterJobs(
            row.project_id, row.cluster_id, ClusterState(row.state), row.network or "", jobs, row.currency or ""
        )

    async def act(self, item: WorkItem, inputs: ClusterJobs) -> Sequence[Result]:
        structlog.contextvars.bind_contextvars(project_id=str(inputs.project_id), cluster_id=str(inputs.cluster_id))
        if inputs.state not in BILLABLE:
            return [_meanwhile(inputs, job) for job in inputs.jobs]
        hosts = self._sites.at(None, item.remaining).hosts
        return await asyncio.gather(*(_look(hosts, inputs, job) for job in inputs.jobs))

    async def apply(
        self, connection: AsyncConnection, item: WorkItem, inputs: ClusterJobs, result: Sequence[Result]
    ) -> Outcome:
        mine = {"project_id": inputs.project_id, "cluster_id": inputs.cluster_id}
        unfinished = {job.id: job for job in await store.LOCK.all(connection, mine)}
        if inputs.state in _OVER:
            for each in unfinished.values():
                await store.end(connection, each, JobState.STOPPED, "cluster", why=f"its cluster is {inputs.state}")
            return Done()
        more = False
        for current, found in zip(inputs.jobs, result, strict=True):
            job = unfinished.get(current.id)
            if job is not None:
                more |= await self._apply(connection, inputs, current, job, found)
        failpoint("jobs.observed")
        if more:
            return Go()
        if inputs.state in BILLABLE:
            return Wait("jobs run", recheck=self._poll_interval)
        return Wait(f"the cluster is {inputs.state}", recheck=WAITING_SECONDS)

    async def _apply(
        self, connection: AsyncConnection, inputs: ClusterJobs, current: Current, job: Job, found: Result
    ) -> bool:
        """Write what was found of a job. True when more can be done now."""
        match found:
            case Due():
                if not job.sent and job.stop_cause is None:
                    await store.mark_sent(connection, job)
                    failpoint("jobs.sent_recorded")
                    return True
            case Silent(why=why):
                await store.note_wait(connection, job, why)
            case Refused(why=why):
                await store.end(connection, job, JobState.FAILED, "site", why=why)
                return True
            case Lost():
                await _attempt_failed(connection, job, "server", _OFF, None)
                return True
            case Seen():
                return await self._seen(connection, inputs, current, job, found)
        return False

    async def _seen(
        self, connection: AsyncConnection, inputs: ClusterJobs, current: Current, job: Job, seen: Seen
    ) -> bool:
        size, text = text_of(base64.b64decode(seen.log), final=seen.ended is not None)
        if size:
            await store.append_log(connection, job, size, text)
        rest = seen.log_size - current.log_bytes - size
        if seen.ended is None or (rest > 0 and size):
            job = await store.mark_running(connection, job)
            limited = seen.ended is None and await _limited(connection, inputs, job)
            return limited or (rest > 0 and size > 0)
        if job.state is JobState.QUEUED and seen.ended in {"exited", "interrupted"}:
            job = await store.mark_running(connection, job)
        await _note_cost(connection, inputs, job)
        await _ended(connection, job, seen)
        return True


async def _look(hosts: Hosts, cluster: ClusterJobs, job: Current) -> Result:
    """Bring a job on, and see what it does."""
    if job.host is None:
        return Lost()
    if not job.sent:
        return Due()
    at = {"server": job.server, "network": cluster.network}
    try:
        if job.stopping:
            await hosts.stop_job(job.host, job.name, **at)
        elif job.state is JobState.QUEUED:
            request = JobRequest(
                **at,
                generation=job.generation,
                command=list(job.command),
                directory=job.directory,
                environment=job.environment,
            )
            return await hosts.put_job(job.host, job.name, request)
        return await hosts.get_job(job.host, job.name, **at, log_from=job.log_bytes) or Lost()
    except SiteRefused as error:
        return Refused(str(error))
    except SiteError as error:
        log.info("job_not_seen", job=job.name, error=str(error))
        return Silent(f"the site does not show it: {error}")


def _meanwhile(cluster: ClusterJobs, job: Current) -> Result:
    """What is known of a job while its cluster is not in use: a server that is off runs nothing."""
    if cluster.state is ClusterState.SUSPENDED and job.state is JobState.RUNNING:
        return Lost()
    return Silent(f"its cluster is {cluster.state}")


async def _ended(connection: AsyncConnection, job: Job, seen: Seen) -> None:
    match seen.ended:
        case "exited" if seen.exit_status == 0:
            await store.end(connection, job, JobState.SUCCEEDED, "program", exit_status=0)
        case "exited":
            await _attempt_failed(connection, job, "program", f"exit status {seen.exit_status}", seen.exit_status)
        case "stopped":
            cause = _ENDED_BY.get(job.stop_cause or "", "request")
            await store.end(
                connection, job, JobState.STOPPED, cause, why=_stopped(job, cause), exit_status=seen.exit_status
            )
        case "not_started":
            await store.end(connection, job, JobState.FAILED, "site", why=seen.detail)
        case _:
            await _attempt_failed(connection, job, "server", _OFF, None)


def _stopped(job: Job, cause: JobEndedBy) -> str:
    if cause == "time_limit":
        return f"stopped after {job.max_minutes} minute{'' if job.max_minutes == 1 else 's'}, its limit"
    if cause == "cost_limit" and job.max_cost is not None:
        return f"stopped at a cost of {Money.of(job.max_cost, job.currency)}, its limit"
    return "stopped by request"


async def _attempt_failed(
    connection: AsyncConnection, job: Job, ended_by: JobEndedBy, why: str, exit_status: int | None
) -> None:
    """The program failed: it is started again, unless it was to stop or has been started often enough."""
    if job.stop_cause is not None and ended_by == "server":
        cause = _ENDED_BY.get(job.stop_cause, "request")
        await store.end(connection, job, JobState.STOPPED, cause, why=_stopped(job, cause))
    elif job.stop_cause is None and job.attempt <= job.retries:
        await store.start_again(connection, job, f"attempt {job.attempt} of {job.retries + 1} failed: {why}")
    else:
        await store.end(connection, job, JobState.FAILED, ended_by, why=why, exit_status=exit_status)


async def _limited(connection: AsyncConnection, inputs: ClusterJobs, job: Job) -> bool:
    """Record that a job is to be stopped because it has reached a limit; whether it has."""
    cost = await _note_cost(connection, inputs, job)
    if job.stop_cause is not None:
        return False
    if job.limit_reached:
        await store.request_stop(connection, job, "time_limit")
        return True
    if cost is not None and job.max_cost is not None and cost.amount >= job.max_cost:
        await store.request_stop(connection, job, "cost_limit")
        return True
    return False


async def _note_cost(connection: AsyncConnection, inputs: ClusterJobs, job: Job) -> Money | None:
    """The cost of the cluster since the job's start; None while a minute of it has no price."""
    if job.started_at is None:
        return None
    cost = await cost_since(
        connection,
        project_id=inputs.project_id,
        cluster_id=inputs.cluster_id,
        currency=inputs.currency,
        since=job.started_at,
    )
    await store.note_cost(connection, job, None if cost is None else cost.amount)
    return cost
