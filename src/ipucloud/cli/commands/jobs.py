"""`ipucloud jobs`: programs that the service runs on clusters."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import Patience, Wait
from ipucloud.cli.completion import its_jobs, names
from ipucloud.cli.exits import Exit
from ipucloud.cli.finding import CLUSTER, find_cluster, job_kind
from ipucloud.cli.programs import reason, started_as, write_parts
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.settling import until
from ipucloud.client import jobs
from ipucloud.client.models import Job, JobState

app = typer.Typer(no_args_is_help=True)

Cluster = Annotated[str, typer.Argument(help="Name or id of the cluster.", autocompletion=names(CLUSTER))]
_ENDED = (JobState.SUCCEEDED, JobState.FAILED, JobState.STOPPED)
Number = Annotated[str, typer.Argument(metavar="JOB", help="Number or id of the job.", autocompletion=names(its_jobs))]


@customer_command(app, "list", "bert", "bert --state running")
def list_jobs(
    session: Session,
    cluster: Cluster,
    state: Annotated[JobState | None, typer.Option(help="Only those in this state.")] = None,
) -> None:
    """List a cluster's jobs, newest first."""
    states = () if state is None else (state.value,)
    session.list(
        jobs.list(find_cluster(session.client, cluster).id, state=states),
        ("JOB", "STATE", "EXIT", "COST", "STARTED", "ENDED", "COMMAND"),
        lambda each: (
            each.number,
            each.state,
            each.exit_status,
            each.cost,
            each.started_at,
            each.ended_at,
            shlex.join(each.command),
        ),
        drop=("ENDED", "STARTED", "COST", "EXIT"),
    )


@customer_command(app, "show", "bert 3")
def show(session: Session, cluster: Cluster, job: Number) -> None:
    """Show a job."""
    owner = find_cluster(session.client, cluster).id
    record = session.run(jobs.get(owner, job), (job_kind(owner), job))
    session.show(record, facts(record))


@customer_command(app, "logs", "bert 3", "bert 3 --follow")
def logs(
    session: Session,
    cluster: Cluster,
    job: Number,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the job has ended.")] = False,
) -> None:
    """Print what a job's program wrote to standard output and standard error."""
    owner = find_cluster(session.client, cluster).id
    session.run(jobs.get(owner, job), (job_kind(owner), job))
    write_log(session, owner, job, follow=follow)


@customer_command(app, "stop", "bert 3")
def stop(session: Session, cluster: Cluster, job: Number, wait: Wait = True, patience: Patience = None) -> None:
    """End a job's program, or keep it from beginning. The cluster stays."""
    owner = find_cluster(session.client, cluster).id
    record = session.run(jobs.stop(owner, job), (job_kind(owner), job))
    if wait:
        record = _ended(session, cluster, record, patience)
    session.show(record, facts(record))


@customer_command(app, "wait", "bert 3", "bert 3 --timeout 3600")
def wait(session: Session, cluster: Cluster, job: Number, patience: Patience = None) -> None:
    """Wait until a job has ended, and exit with the status of its program."""
    owner = find_cluster(session.client, cluster).id
    record = session.run(jobs.get(owner, job), (job_kind(owner), job))
    record = _ended(session, cluster, record, patience)
    session.show(record, facts(record))
    raise typer.Exit(status_of(record))


def _ended(session: Session, cluster: str, job: Job, patience: float | None) -> Job:
    """The job once it has ended. Raises StateTimeoutError."""
    if job.state in _ENDED:
        return job
    return until(
        session,
        jobs.get(str(job.cluster), job.number),
        lambda now: now.state in _ENDED,
        lambda now: (f"Job {now.number} {now.state}", now.state_reason),
        patience=patience,
        resume=f"ipucloud jobs wait {cluster} {job.number}",
    )


def write_log(session: Session, cluster: str, job: str, *, follow: bool, silent: bool = False) -> None:
    """Print a job's output; with `follow` until it has ended, however often the service does not answer.

    `silent`: only wait.
    """
    write_parts(session, lambda after: jobs.log(cluster, job, after=after), "job", follow=follow, silent=silent)


def status_of(job: Job) -> int:
    """The exit status of the program, or 1 for one that was stopped, cut off or not started."""
    if job.state == JobState.SUCCEEDED:
        return Exit.OK
    if job.state == JobState.FAILED and job.ended_by == "program" and job.exit_status is not None:
        return job.exit_status
    return Exit.FAILED


def cost_of(job: Job) -> str | None:
    """What its cluster has cost while it ran; None: unknown."""
    if job.cost is None:
        return None
    return str(job.cost) if job.cost.amount else "nothing yet"


def facts(job: Job) -> list[tuple[str, object]]:
    limits = [f"{job.max_minutes} minutes"] if job.max_minutes is not None else []
    limits += [str(job.max_cost)] if job.max_cost is not None else []
    return [
        ("job", job.number),
        *started_as(job),
        ("state", job.state),
        ("why", reason(job)),
        ("ended by", job.ended_by),
        ("exit status", job.exit_status),
        ("attempt", f"{job.attempt} of {job.retries + 1}"),
        ("stop requested", job.stop_requested_at),
        ("limits", ", ".join(limits) or None),
        ("cost of the cluster", cost_of(job)),
        ("requested", job.created_at),
        ("started", job.started_at),
        ("ended", job.ended_at),
        ("observed", job.observed_at),
    ]
