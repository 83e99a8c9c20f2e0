"""`ipucloud clusters schedule`."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from ipucloud.cli import schedules
from ipucloud.cli.cluster_options import Name
from ipucloud.cli.finding import find_cluster
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import clusters
from ipucloud.client.clusters import Schedule
from ipucloud.client.errors import UsageError
from ipucloud.client.models import UsePeriod

app = typer.Typer()


@customer_command(
    app,
    "schedule",
    "bert",
    'bert "mon-fri 08:00-20:00" --time-zone Europe/Luxembourg --holiday 2026-12-25',
    "bert --remove",
)
def schedule(
    session: Session,
    name: Name,
    periods: Annotated[
        list[UsePeriod] | None,
        typer.Argument(parser=schedules.period, metavar="PERIOD…", help=f"When it is in use, like '{schedules.FORM}'."),
    ] = None,
    *,
    time_zone: Annotated[str | None, typer.Option(help="IANA time zone of the periods and holidays.")] = None,
    holidays: Annotated[
        list[date] | None,
        typer.Option("--holiday", parser=schedules.holiday, metavar="DATE", help="No period begins then; repeatable."),
    ] = None,
    holidays_file: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, readable=True, help="File with a holiday on each line.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Suspend and resume by requests only.")] = False,
) -> None:
    """Show when a cluster is in use, or have it resumed and suspended by a calendar.

    Outside of its periods the cluster is suspended. A new schedule acts from its next moment on.
    """
    cluster = find_cluster(session.client, name)
    days = [*(holidays or ()), *(schedules.holidays_in(holidays_file) if holidays_file else ())]
    if remove and (periods or time_zone or days):
        raise UsageError("Give either a schedule or --remove.")
    if remove:
        cluster = session.run(clusters.update(cluster.id, schedule="none"))
    elif periods:
        if time_zone is None:
            raise UsageError("Name the time zone of the schedule with --time-zone, like Europe/Luxembourg.")
        calendar = Schedule(time_zone, periods, sorted(set(days)))
        cluster = session.run(clusters.update(cluster.id, schedule=calendar))
    elif time_zone or days:
        raise UsageError(f"Give the periods too, like '{schedules.FORM}': a schedule is replaced as a whole.")
    session.show(cluster.schedule, [("cluster", cluster.name), *schedules.facts(cluster.schedule)])
