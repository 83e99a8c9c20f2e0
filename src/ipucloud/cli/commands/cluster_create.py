"""`ipucloud clusters create` and `estimate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import (
    AllowFrom,
    Buckets,
    Flavor,
    Idle,
    Image,
    Keys,
    Patience,
    PoplarServers,
    Preemptible,
    Region,
    Volumes,
    Wait,
    WaitForCapacity,
    newest_image,
    only_key,
    only_region,
)
from ipucloud.cli.commands.catalogue import BILLED_FROM
from ipucloud.cli.commands.cluster_facts import show_changed, would_wait
from ipucloud.cli.following import follow
from ipucloud.cli.schedules import AutoRepair, Window
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import ExpiresAt, WaitUntil, duration
from ipucloud.cli.values import key_values, per_unit, text_of, volumes_of
from ipucloud.client import clusters
from ipucloud.client.clusters import NewCluster
from ipucloud.client.errors import OperationFailedError
from ipucloud.client.models import OperationState

app = typer.Typer(no_args_is_help=True)


@customer_command(
    app,
    "create",
    "bert --flavor m2000-pod16",
    "gpt --flavor m2000-pod16 --image bert-ready",
    "bert --flavor m2000-pod16 --tag team=nlp --expires-at 8h --volume checkpoints --no-wait",
)
def create(
    session: Session,
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens; starts with a letter.")],
    *,
    flavor: Flavor,
    region: Region = None,
    image: Image = None,
    ssh_keys: Keys = None,
    allow_from: AllowFrom = None,
    s3_connections: Buckets = None,
    volumes: Volumes = None,
    user_data: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            readable=True,
            help="File with user data for cloud-init: #cloud-config, or a script.",
        ),
    ] = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", metavar="KEY=VALUE", help="Set this tag; repeatable.")
    ] = None,
    poplar_servers: PoplarServers = None,
    reconfigurable: Annotated[bool, typer.Option(help="Make the default partition reconfigurable.")] = True,
    protect: Annotated[bool, typer.Option("--protect", "--delete-protection", help="Refuse deletion.")] = False,
    expires_at: ExpiresAt = None,
    auto_repair: AutoRepair = True,
    repair_window: Window = None,
    idle: Idle = None,
    wait_for_capacity: WaitForCapacity = False,
    wait_until: WaitUntil = None,
    preemptible: Preemptible = False,
    reservation: Annotated[
        str | None, typer.Option(help="Id of the active reservation to create it from (ipucloud reservations list).")
    ] = None,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Create a cluster and wait until it is active."""
    region = region or only_region(session, flavor)
    new_cluster = NewCluster(
        name,
        region=region,
        flavor=flavor,
        image=image or newest_image(session, region),
        ssh_keys=ssh_keys or only_key(session),
        allowed_sources=allow_from or (),
        s3_connections=s3_connections or (),
        volumes=volumes_of(volumes),
        user_data=text_of(user_data) if user_data else None,
        tags=key_values(tags),
        reconfigurable=reconfigurable,
        poplar_servers=poplar_servers,
        delete_protection=protect,
        expires_at=expires_at,
        auto_repair=auto_repair,
        repair_window=repair_window,
        idle_suspend_minutes=idle,
        wait_for_capacity=wait_for_capacity or wait_until is not None,
        wait_until=wait_until,
        preemptible=preemptible,
        reservation=reservation,
    )
    operation = session.run(clusters.create(new_cluster))
    for warning in operation.warnings:
        session.note(f"Warning: {warning.detail}")
    if wait:
        try:
            operation = follow(session, operation, patience)
        except OperationFailedError as error:
            if error.operation.state == OperationState.FAILED:
                error.detail += f" The failed cluster keeps its name until: ipucloud clusters delete {name}"
            raise
    show_changed(session, session.run(clusters.get(operation.target.id)), operation)


@customer_command(app, "estimate", "--flavor m2000-pod16")
def estimate(
    session: Session,
    *,
    flavor: Flavor,
    region: Region = None,
    image: Image = None,
    ssh_keys: Keys = None,
    s3_connections: Buckets = None,
    volumes: Volumes = None,
    poplar_servers: PoplarServers = None,
    preemptible: Preemptible = False,
) -> None:
    """Show the cost of a cluster, and whether it could be created now."""
    region = region or only_region(session, flavor)
    new_cluster = NewCluster(
        "estimate",
        region=region,
        flavor=flavor,
        image=image or newest_image(session, region),
        ssh_keys=ssh_keys or (),
        s3_connections=s3_connections or (),
        volumes=volumes_of(volumes),
        poplar_servers=poplar_servers,
        preemptible=preemptible,
    )
    estimated = session.run(clusters.estimate(new_cluster))
    quota, capacity = estimated.quota, estimated.capacity
    session.show(
        estimated,
        [
            ("per minute", per_unit(estimated.price_per_minute)),
            ("per hour", estimated.price_per_hour),
            ("per day", estimated.price_per_day),
            ("per month", estimated.price_per_month),
            ("billed", f"from {BILLED_FROM[estimated.billing.starts]} until you delete or suspend it"),
            ("quota sufficient", f"{'yes' if quota.allowed else 'no'}: {quota.used} of {quota.limit} machines used"),
            ("capacity", capacity.why_not.detail if capacity.why_not else capacity.available),
            ("with --wait-for-capacity", capacity.wait and would_wait(capacity.wait)),
            ("preemptible clusters", capacity.preemption_minutes and _room_after(capacity.preemption_minutes)),
            ("ready after", duration(estimated.expected_seconds)),
        ],
    )


def _room_after(minutes: int) -> str:
    return f"make room within {minutes} min for a create with --wait-for-capacity"
