"""`ipucloud volumes`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.cluster_options import Patience, Wait
from ipucloud.cli.completion import names
from ipucloud.cli.finding import CLUSTER, REGION, SNAPSHOT, VOLUME, find, find_cluster, id_of
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.settling import For, Noun
from ipucloud.cli.values import fields, key_values
from ipucloud.client import volumes
from ipucloud.client.errors import UsageError
from ipucloud.client.models import Volume, VolumeState

app = typer.Typer(no_args_is_help=True)

Ref = Annotated[str, typer.Argument(metavar="VOLUME", help="Name or id of the volume.", autocompletion=names(VOLUME))]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="KEY=VALUE", help="Set this tag; repeatable.")]
Size = Annotated[int, typer.Option("--size", min=1, metavar="GIB", help="Size in GiB.")]
NewSize = Annotated[
    int | None,
    typer.Option("--size", min=1, metavar="GIB", help="Size in GiB; with --snapshot by default that of the snapshot."),
]


@customer_command(
    app,
    "create",
    "checkpoints --region luxembourg-2 --size 100 --tag team=nlp",
    "tuned --snapshot before-tuning",
)
def create(
    session: Session,
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens; starts with a letter.")],
    *,
    region: Annotated[
        str | None,
        typer.Option(help="Region; with --snapshot by default that of the snapshot.", autocompletion=names(REGION)),
    ] = None,
    size: NewSize = None,
    snapshot: Annotated[
        str | None,
        typer.Option(help="Name or id of the snapshot whose files it has.", autocompletion=names(SNAPSHOT)),
    ] = None,
    tags: Tags = None,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Create a volume, empty or from a snapshot. It is billed by the GiB and minute until it is deleted."""
    if snapshot is not None:
        source = find(session.client, SNAPSHOT, snapshot)
        snapshot, region, size = source.id, region or source.region, size or source.size_gib
    if region is None or size is None:
        raise UsageError("Give the --region and the --size of the volume, or the --snapshot that it is made from.")
    call = volumes.create(name, region=region, size_gib=size, snapshot=snapshot, tags=key_values(tags))
    _NOUN.carry_out(session, call, VolumeState.AVAILABLE, wait=wait, patience=patience)


@customer_command(app, "list", "", "--state attached")
def list_volumes(
    session: Session,
    state: Annotated[VolumeState | None, typer.Option(help="Only those in this state.")] = None,
) -> None:
    """List the project's volumes, newest first."""
    session.list(
        volumes.list(state=() if state is None else (state,)),
        ("NAME", "STATE", "REGION", "GIB", "CLUSTER", "ID"),
        lambda each: (each.name, each.state, each.region, each.size_gib, each.cluster_name, each.id),
        drop=("ID",),
    )


@customer_command(app, "show", "checkpoints")
def show(session: Session, volume: Ref) -> None:
    """Show a volume, and the cluster and server that have it."""
    _show(session, session.run(volumes.get(_id(session, volume))))


@customer_command(app, "update", "checkpoints --tag team=nlp", "checkpoints --name weights")
def update(
    session: Session,
    volume: Ref,
    *,
    name: Annotated[str | None, typer.Option(help="New name; no server may have the volume.")] = None,
    tags: Tags = None,
) -> None:
    """Change the name of a volume, or replace its tags."""
    changes = volumes.update(_id(session, volume), name=name, tags=None if tags is None else key_values(tags))
    _show(session, session.run(changes))


@customer_command(app, "attach", "checkpoints bert", "checkpoints bert --server clu-01-1-p1")
def attach(
    session: Session,
    volume: Ref,
    cluster: Annotated[str, typer.Argument(help="Name or id of the cluster.", autocompletion=names(CLUSTER))],
    *,
    server: Annotated[str | None, typer.Option(help="Poplar server; by default the first.")] = None,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Let a Poplar server of a cluster have the volume, at /volumes/<name>."""
    call = volumes.attach(_id(session, volume), find_cluster(session.client, cluster).id, poplar_server=server)
    _NOUN.carry_out(session, call, VolumeState.ATTACHED, wait=wait, patience=patience)


@customer_command(app, "detach", "checkpoints")
def detach(session: Session, volume: Ref, wait: Wait = True, patience: Patience = None) -> None:
    """Take a volume from its server. Its files stay."""
    call = volumes.detach(_id(session, volume))
    _NOUN.carry_out(session, call, VolumeState.AVAILABLE, wait=wait, patience=patience)


@customer_command(app, "resize", "checkpoints --size 200")
def resize(session: Session, volume: Ref, *, size: Size, wait: Wait = True, patience: Patience = None) -> None:
    """Let a volume grow; it cannot shrink."""
    call = volumes.resize(_id(session, volume), size)
    _NOUN.carry_out(session, call, VolumeState.AVAILABLE, VolumeState.ATTACHED, wait=wait, patience=patience)


@customer_command(app, "delete", "checkpoints")
def delete(
    session: Session,
    volume: Ref,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Delete a volume with its data."""
    volume_id = _id(session, volume)
    if not yes:
        session.confirm(f"Delete volume {volume} with its data?", "delete it")
    _NOUN.carry_out(session, volumes.delete(volume_id), VolumeState.DELETED, wait=wait, patience=patience)


@customer_command(app, "wait", "checkpoints", "checkpoints --for attached --timeout 600")
def wait(session: Session, volume: Ref, state: For = None, patience: Patience = None) -> None:
    """Wait until a volume's state lasts, or until it is in a state; exit status 1 if that cannot be any more."""
    _NOUN.wait(session, volume, state, patience)


def _id(session: Session, volume: str) -> str:
    return id_of(session.client, VOLUME, volume)


def _show(session: Session, volume: Volume) -> None:
    first = fields(volume, "id", "name", "state", "state_reason", "region", "size_gib", "resizing_to_gib")
    last = fields(volume, "poplar_server", "mount_path", "snapshot", "tags", "sku", "created_at")
    session.show(volume, [*first, ("cluster", volume.cluster_name), *last])


_NOUN: Noun[Volume] = Noun(
    VOLUME, "volumes", volumes.get, _show, VolumeState, deleted=lambda: volumes.list(state=(VolumeState.DELETED,))
)
