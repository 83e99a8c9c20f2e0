"""`ipucloud partitions`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import Patience, Wait, Yes
from ipucloud.cli.completion import its_partitions, names
from ipucloud.cli.finding import CLUSTER, find_cluster, partition_kind, suggesting
from ipucloud.cli.following import carry_out
from ipucloud.cli.output import plain, writable, write
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.settling import For, refuse, until
from ipucloud.client import partitions
from ipucloud.client.models import ControllerStatus, Operation, PartitionDetails, PartitionState
from ipucloud.client.partitions import NewPartition

app = typer.Typer(no_args_is_help=True)

Cluster = Annotated[str, typer.Argument(help="Name or id of the cluster.", autocompletion=names(CLUSTER))]
Name = Annotated[
    str,
    typer.Argument(help="Name of the partition, or its id at the controller.", autocompletion=names(its_partitions)),
]
_DEAD_ENDS = (PartitionState.ERROR, PartitionState.MISSING, PartitionState.REMOVED)
"""No other state follows without a request."""
Relocatable = Annotated[bool, typer.Option("--relocatable", help="Let it move to other IPUs when it is reset.")]


@customer_command(app, "create", "bert training --size 8", "bert replicas --size 8 --gcds 4 --reconfigurable")
def create(
    session: Session,
    cluster: Cluster,
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens; starts with a letter.")],
    *,
    size: Annotated[int, typer.Option(help="IPUs: 1, 2, 4, 8, …")],
    gcds: Annotated[int, typer.Option(help="Graph compile domains: processes that share the partition.")] = 1,
    replicas: Annotated[int | None, typer.Option(help="Default: as many as GCDs.")] = None,
    segments: Annotated[int | None, typer.Option(help="IPU-Link domains; default: as few as possible.")] = None,
    reconfigurable: Annotated[
        bool, typer.Option("--reconfigurable", help="Let programs choose how many IPUs they use.")
    ] = False,
    sync_type: Annotated[str | None, typer.Option(help="c2-compatible, pod-native, …")] = None,
    routing: Annotated[str | None, typer.Option(help="dnc, swnc, btnc or ringswnc.")] = None,
    gateway_routing: Annotated[str | None, typer.Option(help="ring or swring.")] = None,
    auto_reset: Annotated[bool, typer.Option(help="Let the controller reset it after a fault.")] = True,
    relocatable: Relocatable = False,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Create a partition of free IPUs and wait until it is active."""
    owner = find_cluster(session.client, cluster).id
    new_partition = NewPartition(
        name,
        size,
        gcds=gcds,
        replicas=replicas,
        segments=segments,
        reconfigurable=reconfigurable,
        sync_type=sync_type,
        routing=routing,
        gateway_routing=gateway_routing,
        auto_reset=auto_reset,
        relocatable=relocatable,
    )
    operation = carry_out(session, partitions.create(owner, new_partition), wait=wait, patience=patience)
    _show(session, session.run(partitions.get(owner, name)), operation)


@customer_command(app, "list", "bert")
def list_partitions(
    session: Session,
    cluster: Cluster,
    origin: Annotated[str | None, typer.Option(help="Only those created by: cluster, api, customer.")] = None,
) -> None:
    """List the cluster's partitions, including those created at the controller."""
    session.list(
        partitions.list(find_cluster(session.client, cluster).id, origin=origin),
        ("NAME", "STATE", "ORIGIN", "SIZE", "GCDS", "ID", "OBSERVED"),
        lambda each: (each.name, each.state, each.origin, each.size, each.gcds, each.partition_id, each.observed_at),
        drop=("OBSERVED", "GCDS", "ORIGIN", "ID", "SIZE"),
    )


@customer_command(app, "show", "bert training")
def show(session: Session, cluster: Cluster, name: Name) -> None:
    """Show a partition."""
    owner = find_cluster(session.client, cluster).id
    partition = session.run(partitions.get(owner, name), (partition_kind(owner), name))
    session.show(partition, _facts(partition))


@customer_command(app, "reset", "bert training")
def reset(
    session: Session,
    cluster: Cluster,
    name: Name,
    *,
    relocatable: Relocatable = False,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Reset a partition's IPUs, ending programs that use it."""
    owner = find_cluster(session.client, cluster).id
    call = partitions.reset(owner, name, relocatable=relocatable)
    with suggesting(session.client, (partition_kind(owner), name)):
        operation = carry_out(session, call, wait=wait, patience=patience)
    _show(session, session.run(partitions.get(owner, name)), operation)


@customer_command(app, "delete", "bert training --yes", alias="remove")
def delete(
    session: Session, cluster: Cluster, name: Name, *, yes: Yes = False, wait: Wait = True, patience: Patience = None
) -> None:
    """Delete a partition, disconnecting programs that use it."""
    owner = find_cluster(session.client, cluster).id
    if not yes:
        session.confirm(f"Delete partition {name}?", "delete the partition even if it is in use")
    with suggesting(session.client, (partition_kind(owner), name)):
        operation = carry_out(session, partitions.delete(owner, name), wait=wait, patience=patience)
    session.show({"operation": operation}, [("operation", _summary(operation))])


@customer_command(app, "wait", "bert training", "bert training --for removed --timeout 60")
def wait(session: Session, cluster: Cluster, name: Name, state: For = None, patience: Patience = None) -> None:
    """Wait until a partition is active, or in another state; exit status 1 if that cannot be any more."""
    states = [each.value for each in PartitionState]
    if state is not None and state not in states:
        raise typer.BadParameter(f"{state!r} is none of {', '.join(states)}.", param_hint="--for")
    owner = find_cluster(session.client, cluster).id
    partition = session.run(partitions.get(owner, name), (partition_kind(owner), name))
    goal = state or PartitionState.ACTIVE.value
    partition = until(
        session,
        partitions.get(owner, partition.partition_id),
        lambda now: now.state in {goal, *_DEAD_ENDS},
        lambda now: (f"Partition {now.name} {now.state}", now.state_reason),
        patience=patience,
        resume=f"ipucloud partitions wait {cluster} {name}",
    )
    session.show(partition, _facts(partition))
    refuse(session, partition, f"partition {partition.name}", [goal])


@customer_command(app, "config", "bert training --output training.json")
def config(
    session: Session,
    cluster: Cluster,
    name: Name,
    gcd: Annotated[int, typer.Option(help="Number of the GCD.")] = 0,
    output: Annotated[Path | None, typer.Option("--output", "-o", callback=writable, help="File to write.")] = None,
) -> None:
    """Print the IPUoF configuration file of one GCD."""
    owner = find_cluster(session.client, cluster).id
    configuration = session.run(partitions.config(owner, name, gcd=gcd), (partition_kind(owner), name))
    text = json.dumps(plain(configuration), indent=2)
    if output is None:
        sys.stdout.write(text + "\n")
    else:
        write(output, text.encode() + b"\n")
        session.done("file", output)


def _show(session: Session, partition: PartitionDetails, operation: Operation) -> None:
    session.show({"partition": partition, "operation": operation}, _facts(partition, operation))


def _summary(operation: Operation) -> str:
    return f"{operation.kind} {operation.state} {operation.id}"


def _controller(status: ControllerStatus | None) -> list[tuple[str, object]]:
    """What the controller reports of a partition that is not active."""
    if status is None:
        return []
    return [
        ("controller", f"{status.operation_state} at {status.observed_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("errors", status.errors or None),
        ("resets by itself", f"{status.auto_resets} of {status.max_auto_resets}"),
        ("last reset by itself", status.last_auto_reset_at),
    ]


def _facts(partition: PartitionDetails, operation: Operation | None = None) -> list[tuple[str, object]]:
    return [
        ("name", partition.name),
        ("id", partition.partition_id),
        ("origin", partition.origin),
        ("state", partition.state),
        ("why", partition.state_reason),
        ("since", partition.state_entered_at),
        *_controller(partition.controller),
        ("size", partition.size),
        ("gcds", partition.gcds),
        ("replicas", partition.replicas),
        ("segments", partition.segments),
        ("reconfigurable", partition.reconfigurable),
        ("sync type", partition.sync_type),
        ("routing", partition.routing),
        ("gateway routing", partition.gateway_routing),
        ("machines", sorted({ipu.machine for ipu in partition.ipus if ipu.machine}) or None),
        ("observed", partition.observed_at),
        ("configuration read", partition.ipuof_config_at),
        ("operation", operation and _summary(operation)),
    ]
