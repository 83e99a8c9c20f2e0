"""`ipucloud images`."""

from __future__ import annotations

import typer

from ipucloud.cli.session import Session, customer_command
from ipucloud.client import images

app = typer.Typer(no_args_is_help=True)


@app.callback()
def group() -> None:
    pass


@customer_command(app, "list")
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
