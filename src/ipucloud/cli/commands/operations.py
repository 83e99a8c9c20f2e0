"""`ipucloud operations`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.cluster_options import Patience, Wait
from ipucloud.cli.completion import names
from ipucloud.cli.finding import OPERATION, UUID, find_cluster
from ipucloud.cli.following import follow, in_words
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.targets import target_names
from ipucloud.cli.values import fields, requester
from ipucloud.client import operations
from ipucloud.client.errors import ApiError, OperationFailedError, UsageError
from ipucloud.client.models import Operation, OperationState

app = typer.Typer(no_args_is_help=True)

Id = Annotated[str, typer.Argument(help="Id of the operation, or name of a cluster.", autocompletion=names(OPERATION))]


@customer_command(app, "list", "", "--state running")
def list_operations(
    session: Session, state: Annotated[OperationState | None, typer.Option(help="Only those in this state.")] = None
) -> None:
    """List the project's operations, newest first."""
    rows = [*session.client.items(operations.list(state=state))]
    names = {} if session.as_json else target_names(session.client, rows)
    session.show_items(
        rows,
        ("ID", "KIND", "TARGET", "STATE", "CREATED", "PROGRESS", "STAGE", "FINISHED", "REQUESTED BY"),
        lambda each: (
            each.id,
            each.kind,
            names.get(each.target.id, each.target.id),
            each.state,
            each.created_at,
            f"{each.progress} %",
            each.stage,
            each.finished_at,
            requester(each.requested_by),
        ),
        drop=("STAGE", "REQUESTED BY", "FINISHED", "PROGRESS", "CREATED"),
    )


@customer_command(app, "show", "0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90")
def show(session: Session, operation: Id) -> None:
    """Show an operation with its steps. With the name of a cluster: its newest operation."""
    _show(session, _get(session, operation))


@customer_command(app, "wait", "0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90 --timeout 600")
def wait(
    session: Session,
    operation: Id,
    patience: Patience = None,
) -> None:
    """Wait until an operation is done; exit status 1 if it failed."""
    _show(session, follow(session, _get(session, operation), patience))


@customer_command(app, "cancel", "0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90")
def cancel(session: Session, operation: Id, wait: Wait = True, patience: Patience = None) -> None:
    """Cancel an operation, and wait until its completed steps are undone."""
    cancelled = session.run(operations.cancel(_get(session, operation).id))
    if wait:
        try:
            cancelled = follow(session, cancelled, patience)
        except OperationFailedError as error:
            if error.operation.state != OperationState.CANCELLED:
                raise
            cancelled = error.operation
    _show(session, cancelled)


def _get(session: Session, ref: str) -> Operation:
    """The operation with this id, or the newest one of the cluster with this name."""
    try:
        return session.run(operations.get(ref))
    except ApiError as error:
        if error.code != "not_found" or UUID.fullmatch(ref):
            raise
    cluster = find_cluster(session.client, ref)
    newest = session.run(operations.list(cluster=cluster.id, limit=1)).items
    if not newest:
        raise UsageError(f"Cluster {cluster.name} has no operation.")
    return newest[0]


def _show(session: Session, operation: Operation) -> None:
    target = operation.target
    names = {} if session.as_json else target_names(session.client, [operation])
    named = f"{names[target.id]} ({target.id})" if target.id in names else target.id
    facts: list[tuple[str, object]] = [
        *fields(operation, "id", "kind", "state"),
        ("target", f"{target.type} {named}"),
        ("stage", in_words(operation.stage) if operation.stage else None),
        ("progress", f"{operation.progress} %"),
        ("created", operation.created_at),
        ("finished", operation.finished_at),
        ("blocked by", operation.blocked_by),
        ("expected", None if operation.done else operation.expected_at),
        ("error", operation.error and f"{operation.error.detail} ({operation.error.code})"),
        ("requested by", requester(operation.requested_by)),
        ("request id", operation.request_id),
    ]
    for step in operation.steps:
        tries = f", {step.attempts} tries" if step.attempts > 1 else ""
        why = f": {step.detail}" if step.detail else ""
        facts.append((f"  {in_words(step.stage)}: {in_words(step.name)}", f"{step.state}{tries}{why}"))
    session.show(operation, facts)
