"""`ipucloud events` and `audit-log`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from itertools import chain, islice
from typing import Annotated, TypeVar

import typer

from ipucloud.cli.layout import Layout
from ipucloud.cli.lazy import Listing
from ipucloud.cli.output import shown, write_json
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import audit_log, events, operator
from ipucloud.client.call import Call
from ipucloud.client.errors import UsageError
from ipucloud.client.models import AuditEntry, CloudEvent, Event, OperatorEvent, Page

app = typer.Typer(cls=Listing)

BEGINNING = "0-0"
"""The position before every event."""

AsCloudEvents = Annotated[
    bool, typer.Option("--cloud-events", help="Print one JSON document per event, in the format of CloudEvents 1.0.")
]
Some = TypeVar("Some", Event, OperatorEvent)


@app.callback()
def group() -> None:
    pass


@customer_command(app, "list", "", "--limit 20 --follow", "--cloud-events")
def list_events(
    session: Session,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of events.")] = 100,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Continue with new events, until Ctrl-C.")] = False,
    cloud_events: AsCloudEvents = False,
) -> None:
    """Show the project's latest events, newest first; with --follow oldest first, and with --json a document each."""
    if cloud_events:
        write_cloud_events(session, events.cloud_events(limit=min(limit, 1000)), limit, follow=follow)
        return
    latest = [*islice(session.client.items(events.list(limit=min(limit, 1000))), limit)]
    if follow:
        follow_events(session, latest, lambda after: events.stream(after=after), _row)
    else:
        session.show_items(latest, ("TIME", "TYPE", "SUBJECT", "OPERATION"), _row, drop=("OPERATION",))


def write_cloud_events(session: Session, call: Call[Page[CloudEvent]], limit: int, *, follow: bool) -> None:
    """Print the latest events as CloudEvents, one JSON document each. Raises UsageError with `follow`."""
    if follow:
        raise UsageError("Give either --cloud-events or --follow: the stream has events as --json shows them.")
    for event in islice(session.client.items(call), limit):
        write_json(event)


def follow_events(
    session: Session,
    latest: Sequence[Some],
    newer: Callable[[str], Call[Some]],
    row: Callable[[Some], tuple[object, ...]],
    matches: Callable[[Some], bool] = lambda _: True,
) -> None:
    """Print a line or a JSON document for each event: `latest`, the oldest of them first, and new ones as they come.

    Raises UsageError for a layout: there is no table.
    """
    if session.layout != Layout():
        raise UsageError("-o and --sort are for lists that end. Leave them out, or --follow.")
    after = latest[0].id if latest else BEGINNING
    for event in chain(latest[::-1], filter(matches, session.client.stream(newer(after)))):
        if session.as_json:
            write_json(event)
        else:
            sys.stdout.write("  ".join(shown(cell).plain for cell in row(event)) + "\n")
            sys.stdout.flush()


def of_type(event: Event | OperatorEvent, patterns: Sequence[str]) -> bool:
    """Whether an event is of one of these types or nouns, as in `cluster.*`; without any it is."""
    return not patterns or any(fnmatchcase(event.type, pattern) for pattern in patterns)


def _row(event: Event) -> tuple[object, ...]:
    return event.at, event.type, f"{event.subject_type} {event.subject_id}", event.operation_id


audit_log_app = typer.Typer()


@customer_command(
    audit_log_app,
    "audit-log",
    "",
    "--actor ann@example.com --writes",
    "--platform --of research --limit 20",
    lists=True,
)
def list_audit_log(
    session: Session,
    *,
    actor: Annotated[str | None, typer.Option(help="Only of this person, by e-mail, or token, by name.")] = None,
    operation: Annotated[str | None, typer.Option(help="Only of this operation, such as deleteCluster.")] = None,
    writes: Annotated[bool, typer.Option("--writes", help="Without the reads of tokens and money.")] = False,
    platform: Annotated[
        bool, typer.Option("--platform", help="Of every project and outside of projects; for operators.")
    ] = False,
    of: Annotated[
        str | None, typer.Option(metavar="PROJECT", help="With --platform: only of this project, by slug.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of entries.")] = 100,
) -> None:
    """Show who asked for what, newest first: every write, and every read of tokens and money."""
    if of is not None and not platform:
        raise UsageError("--of needs --platform; for your own project use --project.")
    size = min(limit, 1000)
    call = (
        operator.audit_log.list(project=of, actor=actor, operation=operation, writes=writes or None, limit=size)
        if platform
        else audit_log.list(actor=actor, operation=operation, writes=writes or None, limit=size)
    )
    latest = [*islice(session.client.items(call), limit)]
    titles = ("TIME", "ACTOR", "OPERATION", "RESULT", "ADDRESS", "AGENT", "REQUEST")
    session.show_items(latest, titles, _audit_row, drop=("AGENT", "REQUEST"))


def _audit_row(entry: AuditEntry) -> tuple[object, ...]:
    result = entry.state if entry.status is None else f"{entry.status} {entry.code or ''}".strip()
    return entry.at, entry.actor, entry.operation, result, entry.address, entry.agent, entry.request_id
