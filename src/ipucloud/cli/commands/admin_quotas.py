"""`ipucloud admin quota-requests`."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import REGION
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import fields
from ipucloud.client import operator
from ipucloud.client.models import OperatorQuotaRequest, QuotaRequestState

app = typer.Typer()
quota_requests = typer.Typer(no_args_is_help=True, help="Decide what projects ask for.")
app.add_typer(quota_requests, name="quota-requests")

Id = Annotated[str, typer.Argument(help="Id of the request.")]


@customer_command(quota_requests, "list", "--state open")
def list_quota_requests(
    session: Session,
    state: Annotated[QuotaRequestState | None, typer.Option(help="Only those in this state.")] = None,
    region: Annotated[str | None, typer.Option(help="Only those in this region.", autocompletion=names(REGION))] = None,
    of: Annotated[str | None, typer.Option(metavar="PROJECT", help="Only those of this project, by slug.")] = None,
) -> None:
    """List the requests for higher quotas, oldest first."""
    session.list(
        operator.quota_requests.list(state=state, region=region, project=of),
        ("PROJECT", "STATE", "REGION", "TYPE", "USED", "LIMIT", "WANTED", "REASON", "ASKED", "ID"),
        attrgetter(
            "project", "state", "region", "machine_type", "used", "present_limit", "limit", "reason", "created_at", "id"
        ),
        drop=("ASKED", "USED"),
        wrap="REASON",
    )


@customer_command(quota_requests, "show", "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b71")
def show_quota_request(session: Session, request: Id) -> None:
    """Show a request with its project, and the present limit and use."""
    _show(session, session.run(operator.quota_requests.get(request)))


@customer_command(
    quota_requests,
    "grant",
    "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b71",
    '0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b71 --limit 64 --answer "64 now; ask again in June"',
)
def grant_quota_request(
    session: Session,
    request: Id,
    *,
    limit: Annotated[int | None, typer.Option(min=1, help="The new limit; default: what was asked for.")] = None,
    answer: Annotated[str | None, typer.Option(help="What the customer reads with it.")] = None,
) -> None:
    """Raise the quota to what was asked for, or to less."""
    _show(session, session.run(operator.quota_requests.grant(request, limit=limit, answer=answer)))


@customer_command(
    quota_requests, "decline", '0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b71 --reason "the region has no more machines"'
)
def decline_quota_request(
    session: Session, request: Id, *, reason: Annotated[str, typer.Option(help="Why; the customer reads it.")]
) -> None:
    """Leave the quota as it is, and say why."""
    _show(session, session.run(operator.quota_requests.decline(request, reason=reason)))


def _show(session: Session, request: OperatorQuotaRequest) -> None:
    names = ("id", "state", "project", "region", "machine_type", "used", "present_limit", "limit", "reason")
    session.show(request, fields(request, *names, "created_at", "granted_limit", "answer", "decided_at"))
