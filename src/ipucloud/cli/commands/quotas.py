"""`ipucloud quotas`."""

from __future__ import annotations

import typer

from ipucloud.cli.lazy import Listing
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import quotas

app = typer.Typer(cls=Listing)


@app.callback()
def group() -> None:
    pass


@customer_command(app, "list")
def list_quotas(session: Session) -> None:
    """List the project's quotas and their use, in machines."""
    session.list(
        quotas.list(),
        ("REGION", "MACHINE", "USED", "LIMIT"),
        lambda each: (each.region, each.machine_type, each.used, each.limit),
    )
