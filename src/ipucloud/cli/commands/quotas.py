"""`ipucloud quotas`."""

from __future__ import annotations

import typer

from ipucloud.cli.session import Session, customer_command
from ipucloud.client import identity

app = typer.Typer()


@customer_command(app, "quotas")
def quotas(session: Session) -> None:
    """Show the project's quotas and their use, in machines."""
    session.list(
        identity.quotas(),
        ("REGION", "MACHINE", "USED", "LIMIT"),
        lambda each: (each.region, each.machine_type, each.used, each.limit),
    )
