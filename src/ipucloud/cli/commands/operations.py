"""`ipucloud operations`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import OPERATION
from ipucloud.cli.following import follow
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import operations
from ipucloud.client.models import Operation, OperationState

app = typer.Typer(no_args_is_help=True)

Id = Annotated[str, typer.Argument(help="Id of the operation.", autocompletion=names(OPERATION))]


@customer_command(app, "list", "", "--state running")
def list_operations(
    session: Session, state: Annotated[OperationState | None, typer.Option(help="Only those in this state.")] = None
) -> None:
    """List the project's operations, newest first."""
    session.list(
        operations.list(state=state),
        ("ID", "KIND", "STATE", "STAGE", "PROGRESS", "CREATED", "FINISHED"),
        lambda each: (
            each.id,
            each.kind,
            each.state,
            each.stage,
            f"{each.progress} %",
            each.created_at,
            each.finished_at,
        ),
    )


@customer_command(app, "show", "0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90")
def show(session: Session, operation: Id) -> None:
    """Show an operation with its steps."""
    _show(session, session.run(operations.get(operation)))


@customer_command(app, "wait", "0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90 --timeout 600")
def wait(
    session: Session,
    operation: Id,
    patience: Annotated[float | None, typer.Option("--timeout", help="Maximum seconds to wait.")] = None,
) -> None:
    """Wait until an operation is done; exit status 1 if it failed."""
    _show(session, follow(session, session.run(operations.get(operation)), patience))


@customer_command(app, "cancel", "0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90")
def cancel(session: Session, operation: Id) -> None:
    """Cancel an operation and undo its completed steps."""
    _show(session, session.run(operations.cancel(operation)))


def _show(session: Session, operation: Operation) -> None:
    facts: list[tuple[str, object]] = [
        ("id", operation.id),
        ("kind", operation.kind),
        ("state", operation.state),
        ("target", f"{operation.target.type} {operation.target.id}"),
        ("stage", operation.stage),
        ("progress", f"{operation.progress} %"),
        ("created", operation.created_at),
        ("finished", operation.finished_at),
        ("blocked by", operation.blocked_by),
        ("expected", None if operation.done else operation.expected_at),
        ("error", operation.error and f"{operation.error.detail} ({operation.error.code})"),
        ("request id", operation.request_id),
    ]
    for step in operation.steps:
        tries = f", {step.attempts} tries" if step.attempts > 1 else ""
        facts.append((f"  {step.stage} {step.name}", f"{step.state}{tries}{f': {step.detail}' if step.detail else ''}"))
    session.show(operation, facts)
