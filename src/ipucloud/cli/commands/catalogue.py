"""`ipucloud flavors`, `images` and `regions`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import REGION
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import per_unit
from ipucloud.client import flavors, images, regions

flavors_app = typer.Typer(no_args_is_help=True)


@flavors_app.callback()
def flavors_group() -> None:
    pass


@customer_command(flavors_app, "list", "--region luxembourg-2")
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
            per_unit(each.price_per_minute),
            each.price_per_hour,
        ),
        drop=("SERVERS", "PER MINUTE", "REGIONS", "MACHINES"),
    )


images_app = typer.Typer(no_args_is_help=True)


@images_app.callback()
def images_group() -> None:
    pass


@customer_command(images_app, "list")
def list_images(session: Session) -> None:
    """List the images of the catalogue.

    Snapshots of the project's servers are images too: `ipucloud snapshots list`.
    """
    session.list(
        images.list(),
        ("NAME", "POPLAR SDK", "SYSTEM", "REGIONS"),
        lambda each: (each.name, each.sdk_version, f"{each.os} {each.os_version}", list(each.regions)),
        drop=("SYSTEM", "REGIONS", "POPLAR SDK"),
    )


BILLED_FROM = {"active": "when it is active", "requested": "the request"}
"""From when a cluster is billed, by the rule of its region."""

regions_app = typer.Typer(no_args_is_help=True)


@customer_command(regions_app, "list")
def list_regions(session: Session) -> None:
    """List the regions."""
    session.list(
        regions.list(),
        ("REGION", "NUMBER", "NAME", "MACHINES", "BILLED FROM"),
        lambda each: (each.slug, each.number, each.name, list(each.machine_types), BILLED_FROM[each.billing.starts]),
        drop=("NUMBER", "NAME"),
        wrap="MACHINES",
    )


@customer_command(regions_app, "capacity", "luxembourg-2", lists=True)
def capacity(
    session: Session, region: Annotated[str, typer.Argument(help="The region.", autocompletion=names(REGION))]
) -> None:
    """Show how many clusters of each flavor could be created now."""
    session.list(
        regions.capacity(region),
        ("FLAVOR", "AVAILABLE", "WHY NOT MORE"),
        lambda each: (each.flavor, each.available, each.why_not and each.why_not.detail),
        wrap="WHY NOT MORE",
    )
