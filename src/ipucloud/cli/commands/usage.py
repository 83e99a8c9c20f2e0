"""`ipucloud usage`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import CLUSTER, find_cluster
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import utc
from ipucloud.client import billing, clusters
from ipucloud.client.errors import UsageError
from ipucloud.client.models import ProjectUsage, Usage

app = typer.Typer()


@customer_command(app, "usage", "", "bert", "--since 2026-05-01 --until 2026-06-01")
def usage(
    session: Session,
    cluster: Annotated[
        str | None, typer.Argument(help="Name or id; default: the whole project.", autocompletion=names(CLUSTER))
    ] = None,
    since: Annotated[datetime | None, typer.Option(help="UTC; default: the start of the month.")] = None,
    until: Annotated[datetime | None, typer.Option(help="UTC; default: now.")] = None,
) -> None:
    """Show minutes and cost so far of a cluster or the project."""
    if cluster is not None and (since or until):
        raise UsageError("A cluster's usage covers its whole life: omit --since and --until.")
    if cluster is None:
        whole = session.run(billing.usage(since=utc(since), until=utc(until)))
        facts: list[tuple[str, object]] = [(each.name, f"{each.minutes} min, {each.cost}") for each in whole.clusters]
        session.show(whole, [*_facts(whole), *facts])
    else:
        one = session.run(clusters.usage(find_cluster(session.client, cluster).id))
        session.show(one, _facts(one))


def _facts(usage: Usage | ProjectUsage) -> list[tuple[str, object]]:
    credited = [("minutes with credited machines", usage.credited_minutes)] if usage.credited_minutes else []
    return [
        ("since", usage.since),
        ("until", usage.until),
        ("minutes", usage.minutes),
        *credited,
        ("cost", usage.cost),
    ]
