"""`ipucloud run`: a program with its files on a cluster, from upload to results."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ipucloud.cli import ssh as openssh
from ipucloud.cli.commands.clusters import (
    Identity,
    Keys,
    Region,
    Server,
    newest_image,
    only_key,
    only_region,
)
from ipucloud.cli.commands.jobs import facts, status_of, write_log
from ipucloud.cli.completion import names
from ipucloud.cli.finding import CLUSTER, FLAVOR, find_cluster, suggesting
from ipucloud.cli.following import carry_out
from ipucloud.cli.output import write_json
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.syncing import Remote, fetch, upload
from ipucloud.client import clusters, jobs
from ipucloud.client.clusters import NewCluster
from ipucloud.client.errors import UsageError
from ipucloud.client.jobs import NewJob
from ipucloud.client.models import Cluster, Job

app = typer.Typer()

_COST = re.compile(r"(?P<amount>\d+(\.\d+)?)\s*(?P<currency>[A-Z]{3})")
_VARIABLE = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>.*)", re.DOTALL)


@dataclass(frozen=True)
class Place:
    """A Poplar server of a cluster, by its index."""

    session: Session
    cluster: Cluster
    server: int
    identity: Path | None

    def remote(self) -> Remote:
        """The way there. Raises UsageError while there is none."""
        poplar, address = openssh.reachable(self.cluster, self.server)
        known_hosts = openssh.pin_host_key(self.session.config_dir / "known_hosts", poplar, address)
        return Remote(poplar, address, known_hosts, self.identity)


class Then(StrEnum):
    """What is done with the cluster once the program has ended."""

    KEEP = "keep"
    SUSPEND = "suspend"
    DELETE = "delete"


@customer_command(
    app,
    "run",
    "--cluster bert --sync . --get results:. -- python3 train.py",
    "--flavor m2000-pod16 --sync . --max-cost 20EUR --then delete -- ipu-run -- python3 train.py",
)
def run(
    session: Session,
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="The program and its arguments.")],
    *,
    cluster: Annotated[
        str | None, typer.Option(help="Cluster to run it on, by name or id.", autocompletion=names(CLUSTER))
    ] = None,
    flavor: Annotated[
        str | None, typer.Option(help="Create a cluster of this flavor for it.", autocompletion=names(FLAVOR))
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the new cluster; default: run-…")] = None,
    region: Region = None,
    ssh_keys: Keys = None,
    server: Server = 0,
    sync: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="Upload what changed in this directory, run there."),
    ] = None,
    get: Annotated[
        list[str] | None, typer.Option(metavar="REMOTE:LOCAL", help="Fetch this at the end; repeatable.")
    ] = None,
    env: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="Set a variable; repeatable.")] = None,
    max_minutes: Annotated[int | None, typer.Option(min=1, max=43_200, help="Stop it so long after its start.")] = None,
    max_cost: Annotated[
        str | None, typer.Option(metavar="20EUR", help="Stop it once the cluster has cost so much since its start.")
    ] = None,
    retries: Annotated[int, typer.Option(min=0, max=10, help="Start it again so often after it failed.")] = 0,
    then: Annotated[Then, typer.Option(help="What is done with the cluster at the end.")] = Then.KEEP,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Do not wait for it.")] = False,
    identity_file: Identity = None,
) -> None:
    """Run a program on a cluster: upload what changed, show its output, fetch results, exit with its status.

    The program goes on without this command: `ipucloud jobs logs CLUSTER JOB --follow` shows it again.
    """
    fetched = [_pair(each) for each in get or ()]
    if (cluster is None) == (flavor is None):
        raise UsageError("Name a cluster with --cluster, or a flavor for a new one with --flavor.")
    if detach and (fetched or then is not Then.KEEP):
        raise UsageError("--get and --then need the end of the program; leave out --detach.")
    directory = name_of(sync)
    wanted = NewJob(
        command,
        directory=directory,
        environment=dict(variable(each) for each in env or ()),
        retries=retries,
        max_minutes=max_minutes,
        max_cost=None if max_cost is None else _cost(max_cost),
    )
    if flavor is not None:
        chosen = create_cluster(session, flavor, name, region, ssh_keys)
    else:
        chosen = find_cluster(session.client, cluster or "")
    place = Place(session, chosen, server, identity_file)
    job = _start(place, wanted, sync)
    if detach:
        session.show(job, facts(job))
        return
    job = _followed(session, chosen, job)
    for source, target in fetched:
        fetch(
            source if source.startswith("/") or directory is None else f"{directory}/{source}", target, place.remote()
        )
    _finish(session, chosen, then)
    if session.as_json:
        write_json(job)
    elif job.state_reason or job.cost:
        session.note(
            f"Job {job.number} {job.state}{_because(job)}; the cluster cost {job.cost or 'an unknown amount'}."
        )
    raise typer.Exit(status_of(job))


def create_cluster(
    session: Session, flavor: str, name: str | None, region: str | None, ssh_keys: list[str] | None
) -> Cluster:
    """A new cluster for a program, once it is active."""
    with suggesting(session.client, (FLAVOR, flavor)):
        place = region or only_region(session, flavor)
        wanted = NewCluster(
            name or f"run-{secrets.token_hex(4)}",
            region=place,
            flavor=flavor,
            image=newest_image(session, place),
            ssh_keys=ssh_keys or only_key(session),
        )
        carry_out(session, clusters.create(wanted), wait=True, patience=None)
    session.note(f"Cluster {wanted.name} is there; it stays, and costs, until it is suspended or deleted.")
    return find_cluster(session.client, wanted.name)


def name_of(sync: Path | None) -> str | None:
    """The directory on the server for what is uploaded."""
    directory = None if sync is None else sync.resolve().name
    if directory == "":
        raise UsageError("--sync needs a directory with a name.")
    return directory


def send(place: Place, sync: Path | None, directory: str | None) -> str | None:
    """Upload what changed, if anything is to be; the name of the Poplar server. Raises UsageError."""
    session, cluster = place.session, place.cluster
    if not 0 <= place.server < max(1, len(cluster.poplar_servers)):
        raise UsageError(f"Cluster {cluster.name} has {len(cluster.poplar_servers)} servers, counted from 0.")
    if sync is not None:
        sent = upload(sync.resolve(), directory or "", place.remote())
        session.note(f"Sent {sent.files} of {sent.of} files by {sent.by}.")
    return cluster.poplar_servers[place.server].name if cluster.poplar_servers else None


def _start(place: Place, wanted: NewJob, sync: Path | None) -> Job:
    """Upload and request the job."""
    session, cluster = place.session, place.cluster
    poplar = send(place, sync, wanted.directory)
    made = session.run(jobs.create(cluster.id, replace(wanted, poplar_server=poplar)))
    session.note(f"Job {made.number} of {cluster.name} is {made.state}.")
    return made


def _followed(session: Session, cluster: Cluster, job: Job) -> Job:
    """Show the job's output until it has ended."""
    number = str(job.number)
    try:
        write_log(session, cluster.id, number, follow=True, silent=session.as_json)
    except KeyboardInterrupt:
        session.note(
            f"The job continues. To follow it: ipucloud jobs logs {cluster.name} {number} --follow."
            f" To stop it: ipucloud jobs stop {cluster.name} {number}"
        )
        raise
    return session.run(jobs.get(cluster.id, number))


def _finish(session: Session, cluster: Cluster, then: Then) -> None:
    if then is Then.SUSPEND:
        carry_out(session, clusters.suspend(cluster.id), wait=True, patience=None)
    elif then is Then.DELETE:
        carry_out(session, clusters.delete(cluster.id), wait=True, patience=None)


def _because(job: Job) -> str:
    return f" ({job.state_reason})" if job.state_reason else ""


def _pair(text: str) -> tuple[str, Path]:
    source, colon, target = text.partition(":")
    if not (colon and source and target):
        raise UsageError(f"Write what to fetch as REMOTE:LOCAL, such as results:., not {text!r}.")
    return source, Path(target)


def variable(text: str) -> tuple[str, str]:
    """Name and value of a variable written as NAME=VALUE."""
    found = _VARIABLE.fullmatch(text)
    if found is None:
        raise UsageError(f"Write a variable as NAME=VALUE, not {text!r}.")
    return found["name"], found["value"]


def _cost(text: str) -> tuple[str, str]:
    found = _COST.fullmatch(text)
    if found is None:
        raise UsageError(f"Write a cost as an amount and a currency, such as 20EUR, not {text!r}.")
    return found["amount"], found["currency"]
