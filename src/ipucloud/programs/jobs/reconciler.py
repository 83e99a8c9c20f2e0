"""Runs the jobs of a cluster: one at a time on each Poplar server, in the order in which they were requested."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.pricing.usage import cost_since
from ipucloud.contract.jobs import JobEndedBy, JobState
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.money import Money
from ipucloud.programs.jobs import store
from ipucloud.programs.jobs.store import JOB_RECORD, JOBS, Job
from ipucloud.programs.observed import OFF, Due, Lost, Refused, Result, Silent
from ipucloud.programs.reconciler import Current, Loaded, ProgramReconciler, Programs
from ipucloud.wire.site import Job as Seen

_ENDED_BY: dict[str, JobEndedBy] = {"request": "request", "time_limit": "time_limit", "cost_limit": "cost_limit"}


class JobReconciler(ProgramReconciler[Job]):
    """Of each server, the job whose turn it is."""

    kind = JOBS
    noun, table = "job", "jobs"
    loaded = Loaded(
        """
        SELECT DISTINCT ON (server_id) * FROM jobs
         WHERE project_id = c.project_id AND cluster_id = c.id AND ended_at IS NULL
         ORDER BY server_id, state = 'queued', number
        """,
        first="queued",
    )
    record = JOB_RECORD

    def without_asking(self, current: Current) -> Result | None:
        return Lost() if current.host is None else None

    def was_on(self, current: Current) -> bool:
        return current.state == JobState.RUNNING

    async def lock(self, connection: AsyncConnection, inputs: Programs) -> Sequence[Job]:
        return await store.LOCK.all(connection, {"project_id": inputs.project_id, "cluster_id": inputs.cluster_id})

    async def write(
        self, connection: AsyncConnection, inputs: Programs, current: Current, program: Job, result: Result
    ) -> bool:
        match result:
            case Due():
                if not program.sent and program.stop_cause is None:
                    await self.record.mark_sent(connection, program)
                    failpoint("jobs.sent_recorded")
                    return True
            case Silent(why=why):
                await self.record.note_wait(connection, program, why)
            case Refused(why=why):
                await store.end(connection, program, JobState.FAILED, "site", why=why)
                return True
            case Lost():
                await _attempt_failed(connection, program, "server", OFF, None)
                return True
            case Seen():
                return await self.write_observed(connection, inputs, current, program, result)
        return False

    def written(self) -> None:
        failpoint("jobs.observed")

    async def mark_running(self, connection: AsyncConnection, program: Job) -> Job:
        return await store.mark_running(connection, program)

    async def program_ended(self, connection: AsyncConnection, inputs: Programs, program: Job, observed: Seen) -> None:
        await _note_cost(connection, inputs, program)
        await _ended(connection, program, observed)

    async def end_with_cluster(self, connection: AsyncConnection, program: Job, why: str) -> None:
        await store.end(connection, program, JobState.STOPPED, "cluster", why=why)

    async def limited(self, connection: AsyncConnection, inputs: Programs, program: Job) -> bool:
        cost = await _note_cost(connection, inputs, program)
        if program.stop_cause is not None:
            return False
        if program.limit_reached:
            await store.request_stop(connection, program, "time_limit")
            return True
        if cost is not None and program.max_cost is not None and cost.amount >= program.max_cost:
            await store.request_stop(connection, program, "cost_limit")
            return True
        return False


async def _ended(connection: AsyncConnection, job: Job, observed: Seen) -> None:
    match observed.ended:
        case "exited" if observed.exit_status == 0:
            await store.end(connection, job, JobState.SUCCEEDED, "program", exit_status=0)
        case "exited":
            await _attempt_failed(
                connection, job, "program", f"exit status {observed.exit_status}", observed.exit_status
            )
        case "stopped":
            cause = _ENDED_BY.get(job.stop_cause or "", "request")
            await store.end(
                connection, job, JobState.STOPPED, cause, why=_stopped(job, cause), exit_status=observed.exit_status
            )
        case "not_started":
            await store.end(connection, job, JobState.FAILED, "site", why=observed.detail)
        case _:
            await _attempt_failed(connection, job, "server", OFF, None)


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


async def _note_cost(connection: AsyncConnection, inputs: Programs, job: Job) -> Money | None:
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
