"""`ipucloud events`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import islice
from time import sleep
from typing import Annotated, TypeVar

import typer

from ipucloud.cli.lazy import Listing
from ipucloud.cli.output import shown, write_json
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.watching import INTERVAL
from ipucloud.client import events
from ipucloud.client.call import Call
from ipucloud.client.models import Event, OperatorEvent, Page

app = typer.Typer(cls=Listing)

BEGINNING = "0-0"
"""The position before every event."""

Some = TypeVar("Some", Event, OperatorEvent)


@app.callback()
def group() -> None:
    pass


@customer_command(app, "list", "", "--limit 20 --follow")
def list_events(
    session: Session,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of events.")] = 100,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Continue with new events, until Ctrl-C.")] = False,
) -> None:
    """Show the project's latest events, newest last. With --follow, --json prints one document per event."""
    latest = [*islice(session.client.items(events.list(limit=min(limit, 1000))), limit)][::-1]
    if follow:
        show_events(session, latest, _row)
        after = latest[-1].id if latest else BEGINNING
        show_events(session, session.client.stream(events.stream(after=after)), _row)
    else:
        session.show_items(latest, ("TIME", "TYPE", "SUBJECT", "OPERATION"), _row, drop=("OPERATION",))


def show_events(session: Session, new: Iterable[Some], row: Callable[[Some], tuple[object, ...]]) -> str | None:
    """Print a line or a JSON document for each event as it comes; the last one's id."""
    last = None
    for event in new:
        last = event.id
        if session.as_json:
            write_json(event)
        else:
            sys.stdout.write("  ".join(shown(cell).plain for cell in row(event)) + "\n")
            sys.stdout.flush()
    return last


def follow_events(
    session: Session,
    new: Iterable[Some],
    newer: Callable[[str | None], Call[Page[Some]]],
    row: Callable[[Some], tuple[object, ...]],
) -> None:
    """Print these events and those that follow, a line or a JSON document for each, without end."""
    last = None
    while True:
        last = show_events(session, new, row) or last
        sleep(INTERVAL)
        new = session.client.items(newer(last))


def _row(event: Event) -> tuple[object, ...]:
    return event.at, event.type, f"{event.subject_type} {event.subject_id}", event.operation_id
