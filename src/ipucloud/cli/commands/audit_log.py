"""`ipucloud audit-log`."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from ipucloud.cli.session import Session, customer_command
from ipucloud.client import audit_log, operator
from ipucloud.client.errors import UsageError
from ipucloud.client.models import AuditEntry

app = typer.Typer()


@customer_command(app, "audit-log", "", "--actor ann@example.com --writes", "--platform --of research --limit 20")
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
    """Show who asked for what, newest last: every write, and every read of tokens and money."""
    if of is not None and not platform:
        raise UsageError("--of needs --platform; for your own project use --project.")
    size = min(limit, 1000)
    call = (
        operator.audit_log.list(project=of, actor=actor, operation=operation, writes=writes or None, limit=size)
        if platform
        else audit_log.list(actor=actor, operation=operation, writes=writes or None, limit=size)
    )
    latest = [*islice(session.client.items(call), limit)][::-1]
    titles = ("TIME", "ACTOR", "OPERATION", "RESULT", "ADDRESS", "AGENT", "REQUEST")
    session.show_items(latest, titles, _row, drop=("AGENT", "REQUEST"))


def _row(entry: AuditEntry) -> tuple[object, ...]:
    result = entry.state if entry.status is None else f"{entry.status} {entry.code or ''}".strip()
    return entry.at, entry.actor, entry.operation, result, entry.address, entry.agent, entry.request_id
