"""`ipucloud usage`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from ipucloud.cli.commands.clusters import find
from ipucloud.cli.output import utc
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import activity, clusters
from ipucloud.client.errors import UsageError

app = typer.Typer()


@customer_command(app, "usage")
def usage(
    session: Session,
    cluster: Annotated[str | None, typer.Argument(help="Name or id; the whole project when not given.")] = None,
    since: Annotated[datetime | None, typer.Option(help="UTC; the start of the month when not given.")] = None,
    until: Annotated[datetime | None, typer.Option(help="UTC; now when not given.")] = None,
) -> None:
    """Show minutes and cost so far, of a cluster or of the project."""
    if cluster is not None and (since or until):
        raise UsageError("A cluster's usage is over its whole life: leave out --since and --until.")
    call = (
        clusters.usage(find(session, cluster).id) if cluster else activity.usage(since=utc(since), until=utc(until))
    )
    found = session.run(call)
    session.show(found, [("minutes", found.minutes), ("cost", found.cost)])
