"""`ipucloud admin freezes`, `site-findings` and `clusters`."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import Patience, Wait, Yes
from ipucloud.cli.completion import names
from ipucloud.cli.finding import REGION
from ipucloud.cli.following import follow
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import moment
from ipucloud.cli.values import fields
from ipucloud.client import operator
from ipucloud.client.models import Freeze

app = typer.Typer()
freezes = typer.Typer(no_args_is_help=True, help="Freeze removals, and end freezes.")
site_findings = typer.Typer(no_args_is_help=True, help="See where sites and database disagree.")
clusters = typer.Typer(no_args_is_help=True, help="Delete a customer's cluster without waiting.")
app.add_typer(freezes, name="freezes")
app.add_typer(site_findings, name="site-findings")
app.add_typer(clusters, name="clusters")


class FreezeState(StrEnum):
    LIVE = "live"
    EXPIRED = "expired"
    ENDED = "ended"


Reason = Annotated[str, typer.Option(help="Why, for other operators.")]
Until = Annotated[
    datetime,
    typer.Option(
        "--expires-at", parser=moment, metavar="WHEN", help="Its end: a duration (2h, 30d), or a date or time in UTC."
    ),
]


@customer_command(freezes, "list", "--state live")
def list_freezes(
    session: Session,
    state: Annotated[FreezeState | None, typer.Option(help="Only those in this state.")] = None,
    region: Annotated[
        str | None, typer.Option(help="Only freezes of this region.", autocompletion=names(REGION))
    ] = None,
) -> None:
    """List when removals were frozen and why, oldest first."""
    session.list(
        operator.freezes.list(state=state, region=region),
        ("REGION", "STATE", "CREATED", "EXPIRES", "ENDED", "REASON", "ID"),
        lambda each: (
            each.region or "all",
            each.state,
            each.created_at,
            each.expires_at,
            each.ended_at,
            each.reason,
            each.id,
        ),
        drop=("ENDED", "CREATED"),
        wrap="REASON",
    )


@customer_command(freezes, "start", '--region luxembourg-2 --expires-at 2h --reason "the site answers wrongly"')
def start_freeze(
    session: Session,
    *,
    reason: Reason,
    expires_at: Until,
    region: Annotated[
        str | None, typer.Option(help="Only in this region; otherwise in all.", autocompletion=names(REGION))
    ] = None,
) -> None:
    """Remove and switch off nothing until the freeze ends. Requests are accepted, and billing ends as usual."""
    _show(session, session.run(operator.freezes.create(region=region, reason=reason, expires_at=expires_at)))


@customer_command(freezes, "end", '0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90 --reason "its answers are right again"')
def end_freeze(
    session: Session, freeze: Annotated[str, typer.Argument(help="Id of the freeze.")], *, reason: Reason
) -> None:
    """End a freeze. Steps that waited go on by themselves."""
    _show(session, session.run(operator.freezes.end(freeze, reason=reason)))


@customer_command(site_findings, "list", "--region luxembourg-2")
def list_site_findings(
    session: Session,
    region: Annotated[str | None, typer.Option(help="Only in this region.", autocompletion=names(REGION))] = None,
    rule: Annotated[str | None, typer.Option(help="Only against this rule.")] = None,
) -> None:
    """List where sites and database disagree, and why the last sweep left it."""
    session.list(
        operator.sites.findings(region=region, rule=rule),
        ("REGION", "RULE", "OBJECT", "SINCE", "SWEEPS", "REPAIR", "FOUND", "LEFT BECAUSE"),
        lambda each: (
            each.region,
            each.rule,
            each.object if each.host is None else f"{each.object} on {each.host}",
            each.first_seen_at,
            each.sightings,
            each.repair,
            each.detail,
            each.left_because,
        ),
        drop=("REPAIR", "SWEEPS", "SINCE", "FOUND"),
        wrap="LEFT BECAUSE",
    )


@customer_command(clusters, "force-delete", '0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90 --reason "its rack is gone" --yes')
def force_delete(
    session: Session,
    cluster: Annotated[str, typer.Argument(help="Id of the cluster.")],
    *,
    reason: Annotated[str, typer.Option(help="Why; the customer reads it.")],
    yes: Yes = False,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Delete a cluster of any project, protected or not, and isolate its dead hardware instead of waiting for it."""
    if not yes:
        what = "the cluster and everything on its servers"
        session.confirm(f"Delete {cluster}: {what}?", f"delete {what}")
    operation = session.run(operator.clusters.force_delete(cluster, reason=reason))
    if wait:
        deletes = session.client.items(operator.work.operations(cluster=cluster, kind=operation.kind))
        projects = (each.project for each in deletes if each.id == operation.id)
        operation = follow(session, operation, patience, project=next(projects, None))
    session.show(operation, fields(operation, "id", "kind", "state", "stage", "progress", "blocked_by"))


def _show(session: Session, freeze: Freeze) -> None:
    names = ("id", "region", "state", "reason", "created_at", "expires_at", "ended_at", "end_reason")
    session.show(freeze, fields(freeze, *names))
