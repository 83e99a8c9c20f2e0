"""`ipucloud clusters update`, `reboot`, `rebuild`, `wait`."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import AllowFrom, Buckets, FromEverywhere, Idle, Name, Patience, Wait, Yes
from ipucloud.cli.commands.cluster_facts import facts
from ipucloud.cli.commands.clusters import ask
from ipucloud.cli.completion import names
from ipucloud.cli.exits import Exit
from ipucloud.cli.finding import IMAGE, SSH_KEY, find_cluster
from ipucloud.cli.following import follow
from ipucloud.cli.schedules import AutoRepairChange, Window
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.settling import until
from ipucloud.cli.times import ExpiresAt, moment
from ipucloud.cli.values import key_values, text_of
from ipucloud.cli.watching import INTERVAL
from ipucloud.client import clusters, operations
from ipucloud.client.errors import ApiError, OperationFailedError, UsageError, WaitTimeoutError
from ipucloud.client.models import Cluster, ClusterState, OperationState, PoplarServer

app = typer.Typer()

OtherKeys = Annotated[
    list[str] | None,
    typer.Option(
        "--ssh-key",
        help="Let this key log in, in place of the present ones; repeatable.",
        autocompletion=names(SSH_KEY),
    ),
]

_DEAD_ENDS = {ClusterState.ERROR, ClusterState.DELETED}
"""No other state follows without a request."""
_OPERATIONS = "operation"
_OPEN = (OperationState.QUEUED, OperationState.RUNNING, OperationState.CANCELLING)


@customer_command(
    app,
    "update",
    "bert --no-protect",
    "bert --name bert-large --tag team=nlp --expires-at 8h",
    'bert --repair-window "sat,sun 02:00 180 Europe/Luxembourg"',
    "bert --ssh-key laptop --ssh-key ci",
    "bert --allow-from 203.0.113.0/24",
)
def update(
    session: Session,
    name: Name,
    *,
    new_name: Annotated[str | None, typer.Option("--name", help="New name.")] = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", metavar="KEY=VALUE", help="Set this tag; repeatable.")
    ] = None,
    delete_tags: Annotated[
        list[str] | None, typer.Option("--untag", "--delete-tag", metavar="KEY", help="Delete this tag; repeatable.")
    ] = None,
    protect: Annotated[bool | None, typer.Option("--protect/--no-protect", help="Refuse or allow deletion.")] = None,
    expires_at: ExpiresAt = None,
    no_expiry: Annotated[bool, typer.Option("--no-expiry", help="Do not delete the cluster automatically.")] = False,
    auto_repair: AutoRepairChange = None,
    repair_window: Window = None,
    any_time: Annotated[bool, typer.Option("--no-repair-window", help="Let repairs begin at any time.")] = False,
    idle: Idle = None,
    no_idle: Annotated[bool, typer.Option("--no-idle-suspend", help="Keep it although nobody uses it.")] = False,
    ssh_keys: OtherKeys = None,
    allow_from: AllowFrom = None,
    from_everywhere: FromEverywhere = False,
    s3_connections: Buckets = None,
    no_s3: Annotated[bool, typer.Option("--no-s3-connections", help="Detach all S3 connections.")] = False,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Change a cluster's name, tags, protection, expiry, repairs, idle stop, SSH access or S3 connections.

    Keys that are not named can no longer log in, nor can who comes from a network that is not named; sessions that are
    open stay open. S3 connections that are not named are detached.
    """
    for given, name_of_it, other, opposite in (
        (expires_at, "--expires-at", no_expiry, "--no-expiry"),
        (repair_window, "--repair-window", any_time, "--no-repair-window"),
        (allow_from, "--allow-from", from_everywhere, "--allow-from-everywhere"),
        (s3_connections, "--s3-connection", no_s3, "--no-s3-connections"),
        (idle, "--idle-suspend", no_idle, "--no-idle-suspend"),
    ):
        if given and other:
            raise UsageError(f"Give either {name_of_it} or {opposite}.")
    changes = (new_name, protect, expires_at, auto_repair, repair_window, idle, ssh_keys, allow_from, s3_connections)
    removals = (tags, delete_tags, no_expiry, any_time, no_idle, from_everywhere, no_s3)
    if all(each is None for each in changes) and not any(removals):
        raise UsageError("Give at least one change, such as --no-protect.")
    cluster = session.client.run_tagged(clusters.get(find_cluster(session.client, name).id))
    changed = {**cluster.value.tags, **key_values(tags)}
    for key in delete_tags or []:
        if changed.pop(key, None) is None:
            raise UsageError(f"Cluster {cluster.value.name} has no tag {key}.")
    call = clusters.update(
        cluster.value.id,
        name=new_name,
        tags=changed if tags or delete_tags else None,
        delete_protection=protect,
        expires_at="never" if no_expiry else expires_at,
        auto_repair=auto_repair,
        repair_window="any" if any_time else repair_window,
        ssh_keys=ssh_keys,
        allowed_sources=() if from_everywhere else allow_from or None,
        s3_connections=() if no_s3 else s3_connections,
        idle_suspend_minutes="never" if no_idle else idle,
        if_match=cluster.etag if tags or delete_tags else None,  # tags are replaced as a whole
    )
    updated = session.run(call)
    if wait:
        settings = bool(s3_connections or no_s3 or allow_from or from_everywhere)
        updated = _settled(session, updated, patience, keys=bool(ssh_keys), settings=settings)
    session.show(updated, facts(updated))


def _settled(session: Session, cluster: Cluster, patience: float | None, *, keys: bool, settings: bool) -> Cluster:
    """The cluster when its servers have the keys, and the S3 connections and allowed sources, that were changed."""
    if keys and cluster.operation is not None:
        follow(session, session.run(operations.get(cluster.operation.id)), patience)
        cluster = session.run(clusters.get(cluster.id))
    if not settings:
        return cluster
    return until(
        session,
        clusters.get(cluster.id),
        lambda now: not _behind(now),
        lambda now: (f"Settings of {now.name}" + (f" on {len(late)} servers" if (late := _behind(now)) else ""), None),
        patience=patience,
        resume=f"ipucloud clusters show {cluster.name} --watch",
    )


def _behind(cluster: Cluster) -> list[PoplarServer]:
    """Servers without the cluster's S3 connections or allowed sources; those that do not run get them when they do."""
    running = [server for server in cluster.poplar_servers if server.state == "running"]
    pairs = [((each.s3_access, cluster.s3_connections), (each.ssh_access, cluster.allowed_sources)) for each in running]
    return [
        server
        for server, settings in zip(running, pairs, strict=True)
        if any(not seen.current if seen else wanted for seen, wanted in settings)
    ]


@customer_command(app, "reschedule-repair", "bert 2026-05-06T04:00", "bert 12h")
def reschedule_repair(
    session: Session,
    name: Name,
    when: Annotated[
        datetime, typer.Argument(parser=moment, metavar="WHEN", help="A duration (2h, 3d), or a date or time in UTC.")
    ],
) -> None:
    """Choose another time for the scheduled repair of a cluster."""
    changed = session.run(clusters.reschedule_repair(find_cluster(session.client, name).id, starts_at=when))
    session.show(changed, facts(changed))


@customer_command(app, "reboot", "bert", "bert --server clu-01-1-p0 --yes", "bert --hard")
def reboot(
    session: Session,
    name: Name,
    servers: Annotated[
        list[str] | None, typer.Option("--server", help="Restart only this Poplar server; repeatable.")
    ] = None,
    *,
    hard: Annotated[bool, typer.Option("--hard", help="Cut the power instead of asking the system.")] = False,
    yes: Yes = False,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Restart a cluster's Poplar servers. Programs on them end; disks and partitions stay, and billing continues."""
    cluster = find_cluster(session.client, name)
    if not yes:
        which = ", ".join(servers) if servers else f"all Poplar servers of {cluster.name}"
        lost = " What was not yet written to disk is lost." if hard else ""
        session.confirm(
            f"{'Power-cycle' if hard else 'Reboot'} {which}? Programs on them will end.{lost}"
            " Partitions stay, and billing continues.",
            "restart the servers and end their programs",
        )
    restart = clusters.power_cycle if hard else clusters.reboot
    ask(session, cluster, partial(restart, servers=servers), wait=wait, patience=patience)


@customer_command(
    app,
    "rebuild",
    "bert --keep-disk --image ubuntu-20.04-x64-poplar-1.18.0-3.0.0",
    "bert --keep-disk --image bert-ready",
    "bert --wipe --ssh-key laptop --yes",
    "bert --wipe --server clu-01-1-p0",
)
def rebuild(
    session: Session,
    name: Name,
    *,
    wipe: Annotated[
        bool | None, typer.Option("--wipe/--keep-disk", help="Lose everything on the disks, or keep /home.")
    ] = None,
    image: Annotated[
        str | None,
        typer.Option(
            help="Poplar image, or a snapshot of a server of the project; default: the present one.",
            autocompletion=names(IMAGE),
        ),
    ] = None,
    user_data: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, readable=True, help="File with other user data.")
    ] = None,
    clear_user_data: Annotated[bool, typer.Option("--no-user-data", help="Have no user data any more.")] = False,
    ssh_keys: OtherKeys = None,
    servers: Annotated[
        list[str] | None, typer.Option("--server", help="Rebuild only this Poplar server; repeatable.")
    ] = None,
    yes: Yes = False,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Write a cluster's Poplar servers again, with another image, user data or SSH keys. DATA ON THEIR DISKS IS LOST.

    Partitions and addresses stay. All servers: nothing is billed until the cluster is active again.
    """
    if wipe is None:
        raise UsageError("Give --keep-disk, which keeps /home, or --wipe, which keeps nothing.")
    if user_data and clear_user_data:
        raise UsageError("Give either --user-data or --no-user-data.")
    cluster = find_cluster(session.client, name)
    if not yes:
        session.confirm(_consequences(cluster, image, servers, wipe=wipe), "rebuild the servers and lose what it says")
    request = partial(
        clusters.rebuild,
        disk="wipe" if wipe else "keep",
        image=image,
        user_data=text_of(user_data) if user_data else None,
        clear_user_data=clear_user_data,
        ssh_keys=ssh_keys,
        servers=servers,
    )
    ask(session, cluster, request, wait=wait, patience=patience)


def _consequences(cluster: Cluster, image: str | None, servers: list[str] | None, *, wipe: bool) -> str:
    which = ", ".join(servers) if servers else f"all Poplar servers of {cluster.name}"
    lost = (
        "Everything on their disks will be lost, /home too, and their SSH host keys will be new."
        if wipe
        else "Everything on their disks except /home will be lost; their SSH host keys stay."
    )
    billed = "Billing continues." if servers else "Nothing is billed until the cluster is active again."
    return (
        f"Rebuild {which} with {image or cluster.image}? Programs on them will end. {lost}"
        f" Partitions and addresses stay. {billed}"
    )


def _awaited(text: str) -> str:
    known = [_OPERATIONS, *(state.value for state in ClusterState)]
    if text not in known:
        raise typer.BadParameter(f"{text!r} is none of {', '.join(known)}.")
    return text


@customer_command(app, "wait", "bert", "bert --for active --timeout 1800", "bert --for deleted")
def wait(
    session: Session,
    name: Name,
    awaited: Annotated[
        str,
        typer.Option(
            "--for",
            "--state",
            parser=_awaited,
            metavar="[operation|active|suspended|deleted|…]",
            help="The open operations, or a state.",
        ),
    ] = _OPERATIONS,
    patience: Patience = None,
) -> None:
    """Wait for the open operations on a cluster and its partitions, or until the cluster is in a state.

    Exit status 0 when that is so, 1 if an operation failed or the cluster can no longer get into the state, 3 if there
    is no such cluster, 6 after the time-out. `--for deleted` is content with a cluster of that name that was deleted
    before.
    """
    state = None if awaited == _OPERATIONS else ClusterState(awaited)
    cluster = _living_or_deleted(session, name) if state is ClusterState.DELETED else find_cluster(session.client, name)
    if state is not None:
        cluster = _wait_for_state(session, cluster, state, patience)
    else:
        _wait_for_operations(session, cluster, patience)
        cluster = session.run(clusters.get(cluster.id))
    session.show(cluster, facts(cluster))
    if state not in {None, cluster.state}:
        ended = cluster.state in _DEAD_ENDS
        session.note(f"ipucloud: cluster {cluster.name} is {'' if ended else 'still '}{cluster.state}, not {state}.")
        raise typer.Exit(Exit.FAILED if ended else Exit.UNREACHABLE)


def _living_or_deleted(session: Session, name: str) -> Cluster:
    """As `find_cluster`, or else the last deleted cluster of that name. Raises ApiError."""
    try:
        return find_cluster(session.client, name)
    except ApiError as error:
        deleted = session.run(clusters.list(name=name, state=ClusterState.DELETED, limit=1)).items
        if error.code != "not_found" or not deleted:
            raise
    return session.run(clusters.get(deleted[0].id))


def _wait_for_operations(session: Session, cluster: Cluster, patience: float | None) -> None:
    """Follow each operation that is open now, the oldest first. Raises OperationFailedError, WaitTimeoutError."""
    deadline = None if patience is None else monotonic() + patience
    pending = session.client.items(operations.list(cluster=cluster.id, state=_OPEN, order="created_at"))
    for operation in [*pending]:
        follow(session, operation, None if deadline is None else max(0, deadline - monotonic()))


def _wait_for_state(session: Session, cluster: Cluster, state: ClusterState, patience: float | None) -> Cluster:
    """The cluster in this state, in one that no other follows, or as it is after `patience` seconds."""
    deadline = None if patience is None else monotonic() + patience
    while cluster.state != state and cluster.state not in _DEAD_ENDS:
        remaining = None if deadline is None else deadline - monotonic()
        if remaining is not None and remaining <= 0:
            break
        if cluster.operation is None:
            sleep(INTERVAL if remaining is None else min(INTERVAL, remaining))
        else:
            with suppress(OperationFailedError, WaitTimeoutError):
                follow(session, session.run(operations.get(cluster.operation.id)), remaining)
        cluster = session.run(clusters.get(cluster.id))
    return cluster
