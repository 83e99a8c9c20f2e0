"""`ipucloud snapshots`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.cluster_options import Patience, Wait
from ipucloud.cli.completion import names
from ipucloud.cli.finding import CLUSTER, SNAPSHOT, VOLUME, find_cluster, id_of
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.settling import For, Noun
from ipucloud.cli.values import fields, key_values
from ipucloud.client import snapshots
from ipucloud.client.errors import UsageError
from ipucloud.client.models import Snapshot, SnapshotState

app = typer.Typer(no_args_is_help=True)

Ref = Annotated[
    str, typer.Argument(metavar="SNAPSHOT", help="Name or id of the snapshot.", autocompletion=names(SNAPSHOT))
]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="KEY=VALUE", help="Set this tag; repeatable.")]


@customer_command(
    app,
    "create",
    "before-tuning checkpoints --tag team=nlp",
    "bert-ready --cluster bert",
    "bert-ready --cluster bert --server clu-01-1-p0",
)
def create(
    session: Session,
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens; starts with a letter.")],
    volume: Annotated[
        str | None, typer.Argument(help="Name or id of the volume to copy.", autocompletion=names(VOLUME))
    ] = None,
    *,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Name or id of a cluster, to copy the disk of one of its servers.", autocompletion=names(CLUSTER)
        ),
    ] = None,
    server: Annotated[
        str | None, typer.Option(help="Name or id of the cluster's Poplar server; default: the first.")
    ] = None,
    tags: Tags = None,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Take a snapshot of a volume, or of a server's disk. It is billed by the GiB and minute until it is deleted.

    New volumes are made from one of a volume; one of a server is an image of new servers. What programs have not
    written yet is not in it: end them, or run `sync` on the server first.
    """
    if (volume is None) == (cluster is None):
        raise UsageError("Give either a volume, or a server's cluster with --cluster.")
    if server is not None and cluster is None:
        raise UsageError("Give --server together with --cluster.")
    client = session.client
    call = snapshots.create(
        name,
        volume=None if volume is None else id_of(client, VOLUME, volume),
        cluster=None if cluster is None else find_cluster(client, cluster).id,
        poplar_server=server,
        tags=key_values(tags),
    )
    _NOUN.carry_out(session, call, SnapshotState.AVAILABLE, wait=wait, patience=patience)


@customer_command(app, "list", "", "--state available")
def list_snapshots(
    session: Session,
    state: Annotated[SnapshotState | None, typer.Option(help="Only those in this state.")] = None,
) -> None:
    """List the project's snapshots, newest first."""
    session.list(
        snapshots.list(state=() if state is None else (state,)),
        ("NAME", "STATE", "OF", "REGION", "GIB", "CREATED", "ID"),
        lambda each: (
            each.name,
            each.state,
            _source(each),
            each.region,
            each.size_gib,
            each.created_at,
            each.id,
        ),
        drop=("ID",),
    )


@customer_command(app, "show", "before-tuning")
def show(session: Session, snapshot: Ref) -> None:
    """Show a snapshot, and the volume or server that it is a copy of."""
    _show(session, session.run(snapshots.get(_id(session, snapshot))))


@customer_command(app, "update", "before-tuning --tag team=nlp", "before-tuning --name release-1")
def update(
    session: Session,
    snapshot: Ref,
    *,
    name: Annotated[str | None, typer.Option(help="New name.")] = None,
    tags: Tags = None,
) -> None:
    """Change the name of a snapshot, or replace its tags."""
    changes = snapshots.update(_id(session, snapshot), name=name, tags=None if tags is None else key_values(tags))
    _show(session, session.run(changes))


@customer_command(app, "delete", "before-tuning")
def delete(
    session: Session,
    snapshot: Ref,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Delete a snapshot. Volumes that were made from it stay; it is refused while clusters are made from it."""
    snapshot_id = _id(session, snapshot)
    if not yes:
        session.confirm(f"Delete snapshot {snapshot}?", "delete it")
    _NOUN.carry_out(session, snapshots.delete(snapshot_id), SnapshotState.DELETED, wait=wait, patience=patience)


@customer_command(app, "wait", "before-tuning", "before-tuning --for available --timeout 600")
def wait(session: Session, snapshot: Ref, state: For = None, patience: Patience = None) -> None:
    """Wait until a snapshot's state lasts, or until it is in a state; exit status 1 if that cannot be any more."""
    _NOUN.wait(session, snapshot, state, patience)


def _id(session: Session, snapshot: str) -> str:
    return id_of(session.client, SNAPSHOT, snapshot)


def _source(snapshot: Snapshot) -> str:
    if snapshot.cluster is None:
        return f"volume {snapshot.volume_name}"
    return f"server {snapshot.poplar_server} of {snapshot.cluster_name}"


def _show(session: Session, snapshot: Snapshot) -> None:
    first = fields(snapshot, "id", "name", "state", "state_reason", "region", "size_gib")
    last = fields(snapshot, "tags", "sku", "created_at")
    if snapshot.cluster is None:
        source = [("volume", snapshot.volume_name)]
    else:
        source = [
            ("cluster", snapshot.cluster_name),
            ("server", snapshot.poplar_server),
            ("image", snapshot.image),
        ]
    session.show(snapshot, [*first, *source, *last])


_NOUN: Noun[Snapshot] = Noun(
    SNAPSHOT,
    "snapshots",
    snapshots.get,
    _show,
    SnapshotState,
    deleted=lambda: snapshots.list(state=(SnapshotState.DELETED,)),
)
