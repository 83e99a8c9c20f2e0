"""`ipucloud clusters`: lists them, shows one, deletes, suspends, resumes and repairs it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import Name, Patience, Wait, WaitForCapacity, Yes
from ipucloud.cli.commands.cluster_facts import affected, facts, show_changed
from ipucloud.cli.completion import names
from ipucloud.cli.finding import FLAVOR, REGION, find_cluster
from ipucloud.cli.following import carry_out
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import WaitUntil
from ipucloud.cli.values import Order, Sorted, key_values
from ipucloud.client import clusters, operations, partitions
from ipucloud.client.call import Call
from ipucloud.client.errors import ApiError
from ipucloud.client.models import Cluster, ClusterState, Machine, Operation, Origin, PoplarServer

app = typer.Typer(no_args_is_help=True)


@customer_command(app, "list", "", "--state active --tag team=nlp", "--order name")
def list_clusters(
    session: Session,
    *,
    state: Annotated[ClusterState | None, typer.Option(help="Only those in this state.")] = None,
    region: Annotated[str | None, typer.Option(help="Only those in this region.", autocompletion=names(REGION))] = None,
    flavor: Annotated[str | None, typer.Option(help="Only those of this flavor.", autocompletion=names(FLAVOR))] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="KEY=VALUE", help="Only with this tag.")] = None,
    order: Sorted = Order.NEWEST_FIRST,
) -> None:
    """List the project's clusters."""
    session.list(
        clusters.list(state=state, region=region, flavor=flavor, tags=key_values(tags), order=order),
        ("NAME", "STATE", "FAULTS", "FLAVOR", "REGION", "IPUS", "PREEMPTIBLE", "MINUTES", "COST", "CREATED"),
        lambda each: (
            each.name,
            each.state,
            affected(each.faults),
            each.flavor,
            each.region,
            each.ipus,
            each.preempt_at or each.preemptible or None,
            each.billing and each.billing.minutes,
            each.billing and each.billing.cost,
            each.created_at,
        ),
        drop=("PREEMPTIBLE", "MINUTES", "IPUS", "CREATED", "COST", "REGION", "FAULTS", "FLAVOR"),
    )


@customer_command(app, "show", "bert")
def show(session: Session, name: Name) -> None:
    """Show a cluster."""
    cluster = find_cluster(session.client, name)
    last = None
    if cluster.state == ClusterState.ERROR:
        last = next(iter(session.run(operations.list(cluster=cluster.id, limit=1)).items), None)
    session.show(cluster, facts(cluster, last))


@customer_command(app, "machines", "bert", "bert --watch", lists=True)
def machines(session: Session, name: Name) -> None:
    """List a cluster's IPU machines and Poplar servers with their health, as last observed."""
    cluster = find_cluster(session.client, name)
    held: list[Machine | PoplarServer] = [*cluster.machines, *cluster.poplar_servers]
    session.show_items(
        held,
        ("NAME", "HEALTH", "OBSERVED", "FAULTS"),
        lambda each: (each.name, each.health, each.observed_at, [fault.message for fault in each.faults]),
        drop=("OBSERVED",),
        wrap="FAULTS",
    )


@customer_command(app, "delete", "bert", "bert --yes --no-wait")
def delete(
    session: Session,
    name: Name,
    yes: Yes = False,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Delete a cluster and wipe its servers. Billing ends immediately."""
    cluster = find_cluster(session.client, name)
    if cluster.delete_protection:
        allowed = f"ipucloud clusters update {cluster.name} --no-protect"
        raise ApiError(
            409, "delete_protected", f"Cluster {cluster.name} is protected. To allow its deletion: {allowed}"
        )
    if not yes:
        session.confirm(
            f"Delete {cluster.name} and everything on its servers?", "delete the cluster and everything on its servers"
        )
    ask(session, cluster, clusters.delete, wait=wait, patience=patience)


@customer_command(app, "suspend", "bert", "bert --yes --no-wait")
def suspend(session: Session, name: Name, yes: Yes = False, wait: Wait = True, patience: Patience = None) -> None:
    """Release a cluster's machines and keep its servers, switched off. Billing ends immediately.

    Programs on the IPUs end. Resuming recreates the cluster's default partition, and no other.
    """
    cluster = find_cluster(session.client, name)
    if not yes:
        existing = session.client.items(partitions.list(cluster.id))
        lost = [f"{each.name} ({each.size or '?'} IPUs)" for each in existing if each.origin != Origin.CLUSTER]
        loses = f" These partitions will be lost: {', '.join(lost)}." if lost else ""
        session.confirm(
            f"Suspend {cluster.name}? Programs on its IPUs will end.{loses}", "suspend the cluster and end its programs"
        )
    ask(session, cluster, clusters.suspend, wait=wait, patience=patience)


@customer_command(app, "resume", "bert", "bert --wait-for-capacity --no-wait")
def resume(
    session: Session,
    name: Name,
    *,
    wait_for_capacity: WaitForCapacity = False,
    wait_until: WaitUntil = None,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Resume a suspended cluster with the data on its servers."""
    waits = wait_for_capacity or wait_until is not None
    call = partial(clusters.resume, wait_for_capacity=waits, wait_until=wait_until)
    ask(session, find_cluster(session.client, name), call, wait=wait, patience=patience)


@customer_command(app, "repair", "bert", "bert --yes --no-wait")
def repair(session: Session, name: Name, yes: Yes = False, wait: Wait = True, patience: Patience = None) -> None:
    """Take other hardware for a cluster's failed hardware. Its servers restart; nothing is billed meanwhile.

    Partitions are made again. A Poplar server whose host has failed is built again, without the data on its disk.
    """
    cluster = find_cluster(session.client, name)
    if not yes:
        lost = [each.name for each in cluster.faults if each.code == "host_failed"]
        loses = f" The data on these Poplar servers will be lost: {', '.join(lost)}." if lost else ""
        session.confirm(
            f"Repair {cluster.name}? Programs on its IPUs will end, and its servers will restart.{loses}",
            "repair the cluster, end its programs and restart its servers",
        )
    ask(session, cluster, clusters.repair, wait=wait, patience=patience)


def ask(
    session: Session,
    cluster: Cluster,
    request: Callable[[str], Call[Operation]],
    *,
    wait: bool,
    patience: float | None,
) -> None:
    operation = carry_out(session, request(cluster.id), wait=wait, patience=patience)
    show_changed(session, session.run(clusters.get(cluster.id)), operation)
