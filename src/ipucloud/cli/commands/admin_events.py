"""`ipucloud admin events`."""

from __future__ import annotations

import json
from itertools import islice
from typing import Annotated

import typer

from ipucloud.cli.commands.events import AsCloudEvents, follow_events, of_type, write_cloud_events
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import operator
from ipucloud.client.models import OperatorEvent

app = typer.Typer()


@customer_command(app, "events", "", "--region luxembourg-2 --follow", "--type freeze.started --type freeze.ended")
def list_events(
    session: Session,
    *,
    types: Annotated[list[str] | None, typer.Option("--type", help="Only of this type; repeatable.")] = None,
    region: Annotated[str | None, typer.Option(help="Only in this region, or in all.")] = None,
    of: Annotated[str | None, typer.Option(metavar="PROJECT", help="Only those of this project, by slug.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of events.")] = 100,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Continue with new events, until Ctrl-C.")] = False,
    cloud_events: AsCloudEvents = False,
) -> None:
    """Show what happens to the platform, newest last. With --follow, --json prints one document per event."""
    chosen = types or ()
    if cloud_events:
        found = operator.events.cloud_events(type=chosen, region=region, project=of, limit=min(limit, 1000))
        write_cloud_events(session, found, limit, follow=follow)
        return
    call = operator.events.list(type=chosen, region=region, project=of, limit=min(limit, 1000))
    latest = [*islice(session.client.items(call), limit)][::-1]
    if follow:
        follow_events(
            session,
            latest,
            lambda after: operator.events.stream(after=after),
            _row,
            lambda event: of_type(event, chosen) and of in {None, event.project} and _in(event, region),
        )
    else:
        titles = ("TIME", "TYPE", "REGION", "PROJECT", "SUBJECT", "DATA")
        session.show_items(latest, titles, _row, drop=("PROJECT", "REGION"), wrap="DATA")


def _in(event: OperatorEvent, region: str | None) -> bool:
    """Whether an event is of a region; one of the platform without a region is of each."""
    return region is None or event.region == region or (event.region is None and event.project is None)


def _row(event: OperatorEvent) -> tuple[object, ...]:
    about = event.subject_name or event.subject_id
    subject = event.subject_type if about is None else f"{event.subject_type} {about}"
    return event.at, event.type, event.region, event.project, subject, json.dumps(event.data, ensure_ascii=False)
