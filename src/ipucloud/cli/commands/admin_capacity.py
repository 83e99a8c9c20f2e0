"""`ipucloud admin capacity`, `defragmentation` and `pods`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import FLAVOR, MACHINE_TYPE, RACK, REGION
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import operator
from ipucloud.client.models import Place, Pod

_SOURCE = "computed from allocations and health reports; readings: ipucloud admin observations"

app = typer.Typer()
pods = typer.Typer(no_args_is_help=True, help="List pods.")
app.add_typer(pods, name="pods")


@customer_command(pods, "list", "--region luxembourg-2")
def list_pods(
    session: Session,
    region: Annotated[str | None, typer.Option(help="Only those in this region.", autocompletion=names(REGION))] = None,
    rack: Annotated[
        str | None, typer.Option(help="Only those of this GW-Link group.", autocompletion=names(RACK))
    ] = None,
    machine_type: Annotated[
        str | None, typer.Option(help="Only those of this type of machine.", autocompletion=names(MACHINE_TYPE))
    ] = None,
) -> None:
    """List pods with their slots by state, slot 0 first, largest free block and health."""
    session.list(
        operator.capacity.pods(region=region, rack=rack, machine_type=machine_type, limit=1000),
        ("NAME", "SLOTS", "LARGEST", "HEALTH", "TYPE", "RACK", "POSITION", "REGION"),
        lambda each: (
            each.name,
            _slots(each),
            each.largest_block,
            [f"{count} {health}" for health, count in each.health.items()],
            each.machine_type,
            each.rack,
            each.position,
            each.region,
        ),
        drop=("REGION", "POSITION", "RACK", "TYPE"),
    )


def _slots(pod: Pod) -> str:
    """A letter for each slot's state; a dot: it is free."""
    states = {
        "free": ".",
        "allocated": "A",
        "cleaning": "C",
        "validating": "V",
        "unhealthy": "U",
        "maintenance": "M",
        "silent": "S",
    }
    return "".join(
        next((states[state] for state, mask in pod.masks.items() if mask >> slot & 1), " ")
        for slot in range(pod.machines)
    )


@customer_command(app, "defragmentation", "luxembourg-2 --flavor m2000-pod16")
def defragmentation(
    session: Session,
    region: Annotated[str, typer.Argument(help="Region: slug or number.", autocompletion=names(REGION))],
    *,
    flavor: Annotated[str, typer.Option(help="Flavor of the cluster that should fit.", autocompletion=names(FLAVOR))],
) -> None:
    """Propose the cheapest moves of clusters after which one more of a flavor fits. Nothing is changed."""
    plan = session.run(operator.capacity.defragmentation(region, flavor=flavor))
    facts: list[tuple[str, object]] = [("region", plan.region), ("as of", plan.as_of), ("result", plan.result)]
    facts += [("free then", _place(each)) for each in plan.target]
    for move in plan.moves:
        places = f"{', '.join(map(_place, move.since))} → {', '.join(map(_place, move.to))}"
        cost = "" if move.not_billed is None else f", {move.not_billed} not billed"
        facts.append(("move", f"{move.project}/{move.name} {move.cluster}: {places}, {move.minutes} min{cost}"))
    session.show(plan, facts)


def _place(place: Place) -> str:
    return f"{place.pod}[{place.slots[0]}-{place.slots[-1]}]"


@customer_command(app, "capacity", "luxembourg-2")
def capacity(
    session: Session,
    region: Annotated[str, typer.Argument(help="Region: slug or number.", autocompletion=names(REGION))],
) -> None:
    """Show a region's machines by state, what fits now, free blocks, fragmentation and expiries."""
    report = session.run(operator.capacity.get(region))
    facts: list[tuple[str, object]] = [("region", report.region), ("as of", report.as_of), ("source", _SOURCE)]
    for entry in report.types:
        facts += [
            ("machine type", entry.machine_type),
            ("machines", ", ".join(f"{count} {state}" for state, count in entry.states.items())),
            ("free hosts", entry.free_hosts),
            ("free blocks", ", ".join(f"{count} × {size}" for size, count in entry.blocks.items()) or "none"),
            ("largest block", f"{entry.largest_block} machines"),
            ("fragmentation", "-" if entry.fragmentation is None else f"{entry.fragmentation:.0%}"),
        ]
        facts += [("fits", f"{fit.available} × {fit.flavor}") for fit in entry.flavors]
        facts += [
            ("expire", f"{gone.machines} machines within {gone.within_seconds // 3600} h") for gone in entry.expiries
        ]
    session.show(report, facts)
