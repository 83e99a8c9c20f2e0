"""`ipucloud clusters metrics`."""

from __future__ import annotations

import typer

from ipucloud.cli.cluster_options import Name
from ipucloud.cli.finding import find_cluster
from ipucloud.cli.output import shown
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import PeriodEnd, PeriodStart, PeriodStep, minute
from ipucloud.client import clusters
from ipucloud.client.models import MetricsPoint

app = typer.Typer()

MIB = 1 << 20
_COLUMNS = ("FROM", "IPUS", "UTILISATION", "POWER", "HOTTEST", "LINK ERRORS", "PARTITIONS", "CPU", "MEMORY", "OBSERVED")


@customer_command(app, "metrics", "bert", "bert --since 6h", "bert --since 7d --step 3600 --json")
def metrics(
    session: Session,
    name: Name,
    since: PeriodStart = None,
    until: PeriodEnd = None,
    step: PeriodStep = None,
) -> None:
    """Show how busy a cluster was: IPUs, power, temperature, link errors, partitions, and its Poplar servers."""
    cluster = find_cluster(session.client, name)
    found = session.run(clusters.metrics(cluster.id, since=since, until=until, step=step))
    if session.as_json:
        session.show(found, ())
        return
    session.show_items(found.points, _COLUMNS, _row, drop=("LINK ERRORS", "MEMORY", "CPU", "OBSERVED"))
    if all(each.observed_at is None for each in found.points):
        session.note("Nothing was observed in this time: only clusters in use are.")


def _row(point: MetricsPoint) -> tuple[object, ...]:
    memory = None if point.memory_used_bytes is None else f"{point.memory_used_bytes / MIB:.0f} MiB"
    return (
        minute(point.at),
        point.attached_ipus,
        _with_unit(point.utilisation_percent, "%"),
        _with_unit(point.power_watts, "W"),
        _with_unit(point.temperature_celsius, "°C"),
        point.link_errors,
        _with_unit(point.partition_uptime_percent, "%"),
        _with_unit(point.cpu_percent, "%"),
        memory,
        None if point.observed_at is None else shown(point.observed_at),
    )


def _with_unit(value: float | None, unit: str) -> str | None:
    return None if value is None else f"{value:g} {unit}"
