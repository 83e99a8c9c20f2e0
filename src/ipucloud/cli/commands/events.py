"""`ipucloud events`."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from ipucloud.cli.session import Session, customer_command
from ipucloud.client import activity

app = typer.Typer()


@customer_command(app, "events")
def events(
    session: Session, limit: Annotated[int, typer.Option(min=1, help="How many to show at most.")] = 100
) -> None:
    """Show what happened in the project, in the order in which it became true."""
    session.show_items(
        islice(session.client.items(activity.events(limit=min(limit, 1000))), limit),
        ("TIME", "TYPE", "SUBJECT", "OPERATION"),
        lambda each: (each.at, each.type, f"{each.subject_type} {each.subject_id}", each.operation_id),
    )
