"""`ipucloud flavors`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import REGION
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import flavors

app = typer.Typer(no_args_is_help=True)


@app.callback()
def group() -> None:
    pass


@customer_command(app, "list", "--region luxembourg-2")
def list_flavors(
    session: Session,
    region: Annotated[
        str | None, typer.Option(help="Only those sold in this region.", autocompletion=names(REGION))
    ] = None,
) -> None:
    """List the cluster sizes with prices."""
    session.list(
        flavors.list(region=region),
        ("NAME", "MACHINES", "IPUS", "SERVERS", "REGIONS", "PER MINUTE", "PER HOUR"),
        lambda each: (
            each.name,
            f"{each.machines} x {each.machine_type}",
            each.ipus,
            each.poplar_servers,
            list(each.regions),
            each.price_per_minute,
            each.price_per_hour,
        ),
        drop=("SERVERS", "PER MINUTE", "REGIONS", "MACHINES"),
        filters=((REGION, region),),
    )
