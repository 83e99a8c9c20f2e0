"""`ipucloud quotas`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import REGION
from ipucloud.cli.lazy import Listing
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import quotas
from ipucloud.client.call import Call
from ipucloud.client.models import Page, Quota

app = typer.Typer(cls=Listing)


@app.callback()
def group() -> None:
    pass


@customer_command(app, "list")
def list_quotas(session: Session) -> None:
    """List the project's quotas and their use, in machines."""
    _list(session, quotas.list())


@customer_command(app, "update", "luxembourg-2 m2000 64 --project research")
def update(
    session: Session,
    region: Annotated[str, typer.Argument(help="Region.", autocompletion=names(REGION))],
    machine: Annotated[str, typer.Argument(help="Machine type.")],
    limit: Annotated[int, typer.Argument(min=0, help="How many machines the project may hold.")],
) -> None:
    """Set one of the project's quotas. Needs a platform token."""
    present = session.client.run_tagged(quotas.list())
    limits = {(each.region, each.machine_type): each.limit for each in present.value.items}
    _list(session, quotas.update({**limits, (region, machine): limit}, if_match=present.etag or "*"))


def _list(session: Session, call: Call[Page[Quota]]) -> None:
    session.list(
        call,
        ("REGION", "MACHINE", "USED", "LIMIT"),
        lambda each: (each.region, each.machine_type, each.used, each.limit),
    )
