"""Programs on clusters: upload, request, follow, fetch, and what becomes of the cluster."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

import typer
from rich.filesize import decimal

from ipucloud.cli import certificates
from ipucloud.cli import ssh as openssh
from ipucloud.cli.cluster_options import newest_image, only_key, only_region
from ipucloud.cli.commands.jobs import cost_of, facts, status_of, write_log
from ipucloud.cli.commands.login import ask
from ipucloud.cli.finding import find_cluster
from ipucloud.cli.following import carry_out
from ipucloud.cli.ignoring import Listing, listed
from ipucloud.cli.output import write_json
from ipucloud.cli.programs import reason
from ipucloud.cli.session import Session
from ipucloud.cli.syncing import LARGE, Remote, fetch, upload
from ipucloud.client import clusters, jobs
from ipucloud.client.clusters import NewCluster
from ipucloud.client.containers import RegistryLogin
from ipucloud.client.errors import UsageError
from ipucloud.client.jobs import NewJob
from ipucloud.client.models import Cluster, Job

_COST = re.compile(r"(?P<amount>\d+(\.\d+)?)\s*(?P<currency>[A-Z]{3})")
_NAMED = 5
"""How many of the ignored files and folders are named."""
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
        identity = self.identity or certificates.usable(self.session, self.cluster.id)
        return Remote(poplar, address, known_hosts, identity)


class Then(StrEnum):
    """What is done with the cluster once the program has ended."""

    KEEP = "keep"
    SUSPEND = "suspend"
    DELETE = "delete"


@dataclass(frozen=True)
class Ending:
    """What is done about a job once it was requested. `get`: what to fetch, as REMOTE:LOCAL."""

    get: list[str] | None = None
    then: Then = Then.KEEP
    detach: bool = False

    def check(self) -> None:
        """Raises UsageError for what cannot be done."""
        for each in self.get or ():
            _pair(each)
        if self.detach and (self.get or self.then is not Then.KEEP):
            raise UsageError("--get and --then need the end of the program; leave out --detach.")


@dataclass(frozen=True)
class Source:
    """A directory to upload; None: nothing. `agreed`: even if it is large."""

    directory: Path | None = None
    agreed: bool = False

    @property
    def name(self) -> str | None:
        """Of the directory on the server for what is uploaded. Raises UsageError if there is none."""
        name = None if self.directory is None else self.directory.name
        if name == "":
            raise UsageError("--sync needs a directory with a name.")
        return name


def source(session: Session, sync: Path | None, *, yes: bool, flavor: str | None = None) -> Source:
    """What --sync names. What cannot be sent, or may not, is refused before a cluster of the flavor is created for it.

    Raises UsageError; typer.Abort.
    """
    found = Source(None if sync is None else sync.resolve(), yes or flavor is not None)
    if found.name is not None and found.directory is not None and flavor is not None:
        size = listed(found.directory).size
        if size > LARGE and not yes:
            _agree(session, found.directory, size)
    return found


def _agree(session: Session, directory: Path, size: int) -> None:
    what = f"{decimal(size)} of {directory}"
    session.confirm(f"Send {what}? What .gitignore or .ipucloudignore names is not sent.", f"send {what}")


def run_job(place: Place, new_job: NewJob, sync: Source, home: str | None, ending: Ending) -> None:
    """Upload, request the job, and unless detached follow it, fetch from `home` and exit with the program's status.

    `home`: the directory of the server that what is fetched is relative to. Raises UsageError; typer.Exit.
    """
    session, cluster = place.session, place.cluster
    poplar = send(place, sync, new_job.directory)
    job = session.run(jobs.create(cluster.id, replace(new_job, poplar_server=poplar)))
    session.note(f"Job {job.number} of {cluster.name} is {job.state}.")
    if ending.detach:
        session.show(job, facts(job))
        return
    job = _followed(session, cluster, job)
    for source, target in map(_pair, ending.get or ()):
        fetch(source if source.startswith("/") or home is None else f"{home}/{source}", target, place.remote())
    _finish(session, cluster, ending.then)
    if session.as_json:
        write_json(job)
    elif (why := reason(job)) or job.cost:
        because = f" ({why})" if why else ""
        session.note(f"Job {job.number} {job.state}{because}; the cluster cost {cost_of(job) or 'an unknown amount'}.")
    raise typer.Exit(status_of(job))


def create_cluster(
    session: Session, flavor: str, name: str | None, region: str | None, ssh_keys: list[str] | None
) -> Cluster:
    """A new cluster for a program, once it is active."""
    place = region or only_region(session, flavor)
    new_cluster = NewCluster(
        name or f"run-{secrets.token_hex(4)}",
        region=place,
        flavor=flavor,
        image=newest_image(session, place),
        ssh_keys=ssh_keys or only_key(session),
    )
    carry_out(session, clusters.create(new_cluster), wait=True, patience=None)
    session.note(f"Cluster {new_cluster.name} is there; it stays, and costs, until it is suspended or deleted.")
    return find_cluster(session.client, new_cluster.name)


def registry_login(image: str | None, user: str | None) -> RegistryLogin | None:
    """The login at an image's registry, with the password asked for. Raises UsageError for a login without an image."""
    if user is None:
        return None
    if image is None:
        raise UsageError("--registry-user is for the registry of an image: name it with --image.")
    return RegistryLogin(user, ask(f"Password of {user} at the registry", hidden=True))


def send(place: Place, sync: Source, directory: str | None) -> str | None:
    """Upload what changed, if anything is to be; the name of the Poplar server. Raises UsageError; typer.Abort."""
    session, cluster = place.session, place.cluster
    if not 0 <= place.server < max(1, len(cluster.poplar_servers)):
        raise UsageError(f"Cluster {cluster.name} has {len(cluster.poplar_servers)} servers, counted from 0.")
    if sync.directory is not None:
        listing = listed(sync.directory)
        agree = None if sync.agreed else partial(_agree, session, sync.directory)
        sent = upload(listing, directory or "", place.remote(), agree)
        session.note(f"Sent {sent.files} of {sent.of} files ({decimal(sent.size)}) by {sent.by}.{_ignored(listing)}")
    return cluster.poplar_servers[place.server].name if cluster.poplar_servers else None


def _ignored(listing: Listing) -> str:
    names = listing.ignored
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f" Ignored: {', '.join(names[:_NAMED])}{more}." if names else ""


def chosen_cluster(
    session: Session,
    *,
    cluster: str | None,
    flavor: str | None,
    name: str | None = None,
    region: str | None,
    ssh_keys: list[str] | None,
) -> Cluster:
    """The cluster of this name or id, or a new one of the flavor. Raises UsageError unless exactly one is named."""
    if cluster is not None and flavor is None:
        return find_cluster(session.client, cluster)
    if cluster is None and flavor is not None:
        return create_cluster(session, flavor, name, region, ssh_keys)
    raise UsageError("Name a cluster with --cluster, or a flavor for a new one with --flavor.")


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


def _pair(text: str) -> tuple[str, Path]:
    source, colon, target = text.partition(":")
    if not (colon and source and target):
        raise UsageError(f"Write what to fetch as REMOTE:LOCAL, such as results:., not {text!r}.")
    return source, Path(target)


def variable(text: str) -> tuple[str, str]:
    """Name and value of a variable written as NAME=VALUE."""
    match = _VARIABLE.fullmatch(text)
    if match is None:
        raise UsageError(f"Write a variable as NAME=VALUE, not {text!r}.")
    return match["name"], match["value"]


def cost(text: str) -> tuple[str, str]:
    """Amount and currency of a cost written as 20EUR."""
    match = _COST.fullmatch(text)
    if match is None:
        raise UsageError(f"Write a cost as an amount and a currency, such as 20EUR, not {text!r}.")
    return match["amount"], match["currency"]
