"""`ipucloud events`."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from ipucloud.cli.lazy import Listing
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import events

app = typer.Typer(cls=Listing)


@app.callback()
def group() -> None:
    pass


@customer_command(app, "list", "", "--limit 20")
def list_events(
    session: Session, limit: Annotated[int, typer.Option(min=1, help="Maximum number of events.")] = 100
) -> None:
    """Show the project's latest events, newest last."""
    newest_first = session.client.items(events.list(limit=min(limit, 1000)))
    session.show_items(
        reversed([*islice(newest_first, limit)]),
        ("TIME", "TYPE", "SUBJECT", "OPERATION"),
        lambda each: (each.at, each.type, f"{each.subject_type} {each.subject_id}", each.operation_id),
    )
