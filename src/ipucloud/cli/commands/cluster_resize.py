"""`ipucloud clusters resize`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import Name, Patience, Wait, WaitForCapacity, Yes
from ipucloud.cli.commands.cluster_facts import would_wait
from ipucloud.cli.commands.clusters import ask
from ipucloud.cli.completion import names
from ipucloud.cli.finding import FLAVOR, find_cluster
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import WaitUntil, duration
from ipucloud.client import clusters
from ipucloud.client.models import ResizedPartition, ResizeEstimate

app = typer.Typer()


@customer_command(
    app,
    "resize",
    "bert m2000-pod64",
    "bert m2000-pod64 --preview",
    "bert m2000-pod4 --yes --no-wait",
    "bert m2000-pod64 --wait-until 3d --no-wait",
)
def resize(
    session: Session,
    name: Name,
    flavor: Annotated[
        str,
        typer.Argument(help="The size that it is to have; see `ipucloud flavors list`.", autocompletion=names(FLAVOR)),
    ],
    *,
    wait_for_capacity: WaitForCapacity = False,
    wait_until: WaitUntil = None,
    preview: Annotated[bool, typer.Option("--preview", help="Only show what would happen.")] = False,
    yes: Yes = False,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Give a cluster more or fewer machines of its type. Its servers restart; nothing is billed meanwhile.

    Disks, addresses and host keys stay. Partitions that fit are made again. If it fails, the former size is restored.
    """
    cluster = find_cluster(session.client, name)
    waits = wait_for_capacity or wait_until is not None
    if preview or not yes:
        estimate = session.run(clusters.estimate_resize(cluster.id, flavor))
        if preview:
            session.show(estimate, _facts(estimate))
            return
        session.confirm(
            f"Resize {cluster.name} from {estimate.from_flavor} to {estimate.to_flavor}?"
            f" {_consequences(estimate, waits=waits)}",
            "resize the cluster, end its programs and restart its servers",
        )
    call = partial(clusters.resize, flavor=flavor, wait_for_capacity=waits, wait_until=wait_until)
    ask(session, cluster, call, wait=wait, patience=patience)


def _facts(estimate: ResizeEstimate) -> list[tuple[str, object]]:
    quota, capacity = estimate.quota, estimate.capacity
    return [
        ("from", estimate.from_flavor),
        ("to", estimate.to_flavor),
        ("machines", _machines(estimate)),
        ("per hour before", estimate.price_before.price_per_hour),
        ("per hour after", estimate.price_after.price_per_hour),
        ("quota sufficient", f"{'yes' if quota.allowed else 'no'}: {quota.used} of {quota.limit} machines used"),
        ("capacity", capacity.why_not.detail if capacity.why_not else capacity.available),
        ("with --wait-for-capacity", capacity.wait and would_wait(capacity.wait)),
        ("in use again after", duration(estimate.expected_seconds)),
        *((f"partition {each.name}", _partition(each)) for each in estimate.partitions),
    ]


def _machines(estimate: ResizeEstimate) -> str:
    if estimate.moves is None:
        return "no room"
    return "others: the cluster moves" if estimate.moves else "its own stay"


def _partition(partition: ResizedPartition) -> str:
    if partition.ipus_after is None:
        return f"{partition.ipus or '?'} IPUs, does not fit and is not made again"
    return (
        f"{partition.ipus_after} IPUs, made again"
        if partition.ipus == partition.ipus_after
        else f"{partition.ipus_after} IPUs"
    )


def _consequences(estimate: ResizeEstimate, *, waits: bool) -> str:
    lost = [f"{each.name} ({each.ipus or '?'} IPUs)" for each in estimate.partitions if each.ipus_after is None]
    queued = estimate.capacity.wait if waits else None
    sentences = [
        f"It {would_wait(queued)}, and stays in use meanwhile; then:" if queued else "",
        f"It costs {estimate.price_after.price_per_hour} an hour instead of {estimate.price_before.price_per_hour},"
        f" and is in use again after about {duration(estimate.expected_seconds)}.",
        "Programs on its IPUs will end, and its servers will restart.",
        f"These partitions do not fit and are not made again: {', '.join(lost)}." if lost else "",
    ]
    return " ".join(filter(None, sentences))
