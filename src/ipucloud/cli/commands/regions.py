"""`ipucloud regions`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import REGION, suggesting
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import regions

BILLED_FROM = {"active": "when it is active", "requested": "the request"}
"""From when a cluster is billed, by the rule of its region."""

app = typer.Typer(no_args_is_help=True)


@customer_command(app, "list")
def list_regions(session: Session) -> None:
    """List the regions."""
    session.list(
        regions.list(),
        ("REGION", "NUMBER", "NAME", "MACHINES", "BILLED FROM"),
        lambda each: (each.slug, each.number, each.name, list(each.machine_types), BILLED_FROM[each.billing.starts]),
        drop=("NUMBER", "NAME"),
        wrap="MACHINES",
    )


@customer_command(app, "capacity", "luxembourg-2")
def capacity(
    session: Session, region: Annotated[str, typer.Argument(help="The region.", autocompletion=names(REGION))]
) -> None:
    """Show how many clusters of each flavor could be created now."""
    with suggesting(session.client, (REGION, region)):
        session.list(
            regions.capacity(region),
            ("FLAVOR", "AVAILABLE", "WHY NOT MORE"),
            lambda each: (each.flavor, each.available, each.why_not and each.why_not.detail),
            wrap="WHY NOT MORE",
        )
