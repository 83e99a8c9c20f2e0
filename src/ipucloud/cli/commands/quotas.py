"""`ipucloud quotas`."""

from __future__ import annotations

from enum import StrEnum
from operator import attrgetter
from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import MACHINE_TYPE, REGION
from ipucloud.cli.lazy import Listing
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import fields
from ipucloud.client import quota_requests, quotas
from ipucloud.client.call import Call
from ipucloud.client.models import Page, Quota, QuotaRequest, QuotaRequestState

app = typer.Typer(cls=Listing)


@app.callback()
def group() -> None:
    pass


class Order(StrEnum):
    """How quotas are sorted, as the API spells it."""

    BY_REGION = "region"
    BY_REGION_DESCENDING = "-region"
    BY_MACHINE_TYPE = "machine_type"
    BY_MACHINE_TYPE_DESCENDING = "-machine_type"
    BY_USE = "used"
    BY_USE_DESCENDING = "-used"
    BY_LIMIT = "limit"
    BY_LIMIT_DESCENDING = "-limit"


@customer_command(app, "list", "", "--region luxembourg-2", "--order=-used")
def list_quotas(
    session: Session,
    *,
    region: Annotated[str | None, typer.Option(help="Only those in this region.", autocompletion=names(REGION))] = None,
    machine: Annotated[
        str | None, typer.Option("--machine-type", help="Only those of this type.", autocompletion=names(MACHINE_TYPE))
    ] = None,
    order: Annotated[Order | None, typer.Option(help="By region, type, use or limit; with `-` downwards.")] = None,
) -> None:
    """List the project's quotas and their use: of machines, of storage in GiB (volume-gib), and of addresses."""
    _list(session, quotas.list(region=region, machine_type=machine, order=order))


@customer_command(app, "update", "luxembourg-2 m2000 64 --project research")
def update(
    session: Session,
    region: Annotated[str, typer.Argument(help="Region.", autocompletion=names(REGION))],
    machine: Annotated[
        str,
        typer.Argument(
            help="Machine type; or volume-gib (volumes and snapshots) or address.", autocompletion=names(MACHINE_TYPE)
        ),
    ],
    limit: Annotated[int, typer.Argument(min=0, help="How many machines, GiB or addresses it may hold.")],
) -> None:
    """Set one of the project's quotas. Needs a platform token."""
    present = session.client.run_tagged(quotas.list())
    limits = {(each.region, each.machine_type): each.limit for each in present.value.items}
    _list(session, quotas.update({**limits, (region, machine): limit}, if_match=present.etag or "*"))


@customer_command(
    app,
    "request",
    'luxembourg-2 m2000 128 "A POD512 for the training run in May"',
    'luxembourg-2 volume-gib 20000 "Checkpoints"',
)
def request(
    session: Session,
    region: Annotated[str, typer.Argument(help="Region.", autocompletion=names(REGION))],
    machine: Annotated[
        str,
        typer.Argument(
            help="Machine type; or volume-gib (volumes and snapshots) or address.", autocompletion=names(MACHINE_TYPE)
        ),
    ],
    limit: Annotated[int, typer.Argument(min=1, help="How many machines, GiB or addresses it wants to hold.")],
    reason: Annotated[str, typer.Argument(help="What they are for; the operator reads it.")],
) -> None:
    """Ask the operator for a higher quota."""
    call = quota_requests.create(region=region, machine_type=machine, limit=limit, reason=reason)
    _show(session, session.run(call))


@customer_command(app, "requests", "", "--state open", lists=True)
def requests(
    session: Session,
    state: Annotated[QuotaRequestState | None, typer.Option(help="Only those in this state.")] = None,
) -> None:
    """List the requests for higher quotas, newest first, with the operator's decisions."""
    session.list(
        quota_requests.list(state=() if state is None else (state,)),
        ("REGION", "TYPE", "WANTED", "STATE", "GRANTED", "ANSWER", "ASKED", "ID"),
        attrgetter("region", "machine_type", "limit", "state", "granted_limit", "answer", "created_at", "id"),
        drop=("ASKED",),
        wrap="ANSWER",
    )


@customer_command(app, "withdraw", "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b71")
def withdraw(
    session: Session, quota_request: Annotated[str, typer.Argument(metavar="REQUEST", help="Id of the request.")]
) -> None:
    """Withdraw a request for a higher quota that was not decided."""
    _show(session, session.run(quota_requests.withdraw(quota_request)))


def _show(session: Session, request: QuotaRequest) -> None:
    names = ("id", "state", "region", "machine_type", "limit", "reason", "created_at", "granted_limit", "answer")
    session.show(request, fields(request, *names, "decided_at"))


def _list(session: Session, call: Call[Page[Quota]]) -> None:
    session.list(
        call,
        ("REGION", "TYPE", "USED", "LIMIT", "UNIT"),
        lambda each: (each.region, each.machine_type, each.used, each.limit, each.unit),
    )
