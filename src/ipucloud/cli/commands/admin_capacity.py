"""`ipucloud admin capacity`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.session import Session, customer_command
from ipucloud.client import operator

app = typer.Typer()


@customer_command(app, "capacity", "luxembourg-2")
def capacity(session: Session, region: Annotated[str, typer.Argument(help="Region: slug or number.")]) -> None:
    """Show a region's machines by state, what fits now, free blocks, fragmentation and expiries."""
    found = session.run(operator.capacity(region))
    facts: list[tuple[str, object]] = [("region", found.region), ("as of", found.as_of)]
    for each in found.types:
        facts += [
            ("machine type", each.machine_type),
            ("machines", ", ".join(f"{count} {state}" for state, count in each.states.items())),
            ("free hosts", each.free_hosts),
            ("free blocks", ", ".join(f"{count} × {size}" for size, count in each.blocks.items()) or "none"),
            ("largest block", f"{each.largest_block} machines"),
            ("fragmentation", "-" if each.fragmentation is None else f"{each.fragmentation:.0%}"),
        ]
        facts += [("fits", f"{fit.available} × {fit.flavor}") for fit in each.flavors]
        facts += [
            ("expire", f"{gone.machines} machines within {gone.within_seconds // 3600} h") for gone in each.expiries
        ]
    session.show(found, facts)
