"""`ipucloud admin work`, `operations`, `stuck`, `what-is` and `requests`."""

from __future__ import annotations

import json
from enum import StrEnum
from itertools import islice
from operator import attrgetter
from typing import Annotated

import typer

from ipucloud.cli.commands.events import AsCloudEvents, follow_events, of_type, write_cloud_events
from ipucloud.cli.completion import names
from ipucloud.cli.finding import REGION
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import fields
from ipucloud.client import operator
from ipucloud.client.models import OperatorEvent, WorkItem

app = typer.Typer()
work = typer.Typer(no_args_is_help=True, help="List, requeue and park work items.")
requests = typer.Typer(no_args_is_help=True, help="Show everything of a request.")
operations = typer.Typer(no_args_is_help=True, help="List operations of all projects.")
app.add_typer(work, name="work")
app.add_typer(operations, name="operations")
app.add_typer(requests, name="requests")


class WorkState(StrEnum):
    DUE = "due"
    LEASED = "leased"
    RESTING = "resting"
    PARKED = "parked"


class OperationState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


Region = Annotated[str | None, typer.Option(help="Only what is in this region.", autocompletion=names(REGION))]
KindArgument = Annotated[str, typer.Argument(metavar="KIND", help="Kind of the work item, such as cluster.")]
KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="Key of the work item: the id of its object.")]


@customer_command(app, "stuck", "", "--region luxembourg-2", lists=True)
def stuck(session: Session, region: Region = None) -> None:
    """List what takes longer than usual or will not continue, oldest first, with what to do: all of it as recorded now.

    What the site shows is in `ipucloud admin site-findings list` and `observations`.
    """
    shown = session.list(
        operator.work.stuck(region=region),
        ("OBJECT", "KIND", "PROJECT", "NAME", "SINCE", "STEP", "BLOCKED BY", "REMEDY", "ID"),
        attrgetter("object", "kind", "project", "name", "since", "step", "blocked_by", "remedy", "id"),
        drop=("STEP", "SINCE", "OBJECT", "BLOCKED BY"),
        wrap="REMEDY",
    )
    if not shown:
        session.note("Nothing is stuck.")


@customer_command(app, "what-is", "0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90", "m07", lists=True)
def what_is(
    session: Session, name: Annotated[str, typer.Argument(help="An id, a name of hardware, or a request id.")]
) -> None:
    """Say what an id or a name is, and which commands show more."""
    session.list(
        operator.work.what_is(name),
        ("KIND", "PROJECT", "NAME", "STATE", "CREATED", "ID", "COMMANDS"),
        lambda each: (each.kind, each.project, each.name, each.state, each.created_at, each.id, each.commands),
        drop=("CREATED", "STATE"),
        wrap="COMMANDS",
    )


@customer_command(requests, "show", "0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90 --json > request.json")
def show_request(session: Session, request: Annotated[str, typer.Argument(help="Id of the request.")]) -> None:
    """Show the operations, events and work items of a request. With --json: one document to attach to a report."""
    trace = session.run(operator.work.request_trace(request))
    facts: list[tuple[str, object]] = [("request", trace.request_id), ("as of", trace.as_of)]
    for each in trace.operations:
        facts.append(("operation", f"{each.id} {each.kind} {each.state}"))
        facts += [("step", f"{step.name} {step.state} {step.detail or ''}") for step in each.steps]
    facts += [("event", f"{each.at:%Y-%m-%d %H:%M:%S}Z {each.type} {each.subject_id}") for each in trace.events]
    facts += [("work item", f"{each.kind} {each.key} {each.state}") for each in trace.work_items]
    facts += [("logs", f"{each.field} = {each.value}: {', '.join(each.processes)}") for each in trace.logs]
    session.show(trace, facts)
    if not (trace.operations or trace.events):
        session.note("The database has nothing of this request: it was read only, was refused, or has another id.")


@customer_command(operations, "list", "--state running --kind cluster.delete")
def list_operations(
    session: Session,
    *,
    state: Annotated[list[OperationState] | None, typer.Option(help="Only in this state; may be repeated.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only this kind, such as cluster.delete.")] = None,
    of: Annotated[str | None, typer.Option(metavar="PROJECT", help="Only those of this project, by slug.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Only those of this cluster, by id.")] = None,
    region: Region = None,
) -> None:
    """List the operations of every project, newest first."""
    session.list(
        operator.work.operations(state=state or (), kind=kind, project=of, cluster=cluster, region=region),
        ("KIND", "STATE", "PROJECT", "NAME", "PROGRESS", "CREATED", "FINISHED", "BLOCKED BY", "ID"),
        lambda each: (
            each.kind,
            each.state,
            each.project,
            each.name,
            f"{each.progress} %",
            each.created_at,
            each.finished_at,
            each.blocked_by,
            each.id,
        ),
        drop=("FINISHED", "CREATED", "PROGRESS"),
        wrap="BLOCKED BY",
    )


@customer_command(work, "list", "--state parked")
def list_work(
    session: Session,
    kind: Annotated[str | None, typer.Option(help="Only this kind.")] = None,
    state: Annotated[WorkState | None, typer.Option(help="Only those in this state.")] = None,
) -> None:
    """List work items by kind and key. Parked ones wait for a person."""
    session.list(
        operator.work.list(kind=kind, state=state),
        ("KIND", "KEY", "PROJECT", "STATE", "DUE", "PARKED", "ATTEMPTS", "LAST ERROR"),
        attrgetter("kind", "key", "project", "state", "run_at", "parked_at", "attempt", "last_error"),
        drop=("ATTEMPTS", "DUE", "PROJECT"),
        wrap="LAST ERROR",
    )


@customer_command(work, "requeue", "cluster 0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90")
def requeue(session: Session, kind: KindArgument, key: KeyArgument) -> None:
    """Make a work item due now, parked or not. Remove the cause of a parking first."""
    _show(session, session.run(operator.work.requeue(kind, key)))


@customer_command(work, "park", 'cluster 0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90 --reason "site upgrade"')
def park(
    session: Session,
    kind: KindArgument,
    key: KeyArgument,
    *,
    reason: Annotated[str, typer.Option(help="Why, for whoever finds it parked.")],
) -> None:
    """Set a work item aside until it is requeued, or a request wakes it."""
    _show(session, session.run(operator.work.park(kind, key, reason=reason)))


def _show(session: Session, item: WorkItem) -> None:
    session.show(item, fields(item, "kind", "key", "project", "state", "run_at", "parked_at", "last_error"))


events_app = typer.Typer()


@customer_command(
    events_app, "events", "", "--region luxembourg-2 --follow", "--type freeze.started --type freeze.ended", lists=True
)
def list_events(
    session: Session,
    *,
    types: Annotated[list[str] | None, typer.Option("--type", help="Only of this type; repeatable.")] = None,
    region: Annotated[
        str | None, typer.Option(help="Only in this region, or in all.", autocompletion=names(REGION))
    ] = None,
    of: Annotated[str | None, typer.Option(metavar="PROJECT", help="Only those of this project, by slug.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of events.")] = 100,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Continue with new events, until Ctrl-C.")] = False,
    cloud_events: AsCloudEvents = False,
) -> None:
    """Show what happens to the platform, newest first; with --follow oldest first, and with --json a document each."""
    chosen = types or ()
    if cloud_events:
        request = operator.events.cloud_events(type=chosen, region=region, project=of, limit=min(limit, 1000))
        write_cloud_events(session, request, limit, follow=follow)
        return
    call = operator.events.list(type=chosen, region=region, project=of, limit=min(limit, 1000))
    latest = [*islice(session.client.items(call), limit)]
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
        session.show_items(latest, titles, _row, drop=("PROJECT", "REGION"))


def _in(event: OperatorEvent, region: str | None) -> bool:
    """Whether an event is of a region; one of the platform without a region is of each."""
    return region is None or event.region == region or (event.region is None and event.project is None)


def _row(event: OperatorEvent) -> tuple[object, ...]:
    about = event.subject_name or event.subject_id
    subject = event.subject_type if about is None else f"{event.subject_type} {about}"
    return event.at, event.type, event.region, event.project, subject, json.dumps(event.data, ensure_ascii=False)
