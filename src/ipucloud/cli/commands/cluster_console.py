"""`ipucloud clusters console` and `metrics`."""

from __future__ import annotations

import sys
import unicodedata
from operator import attrgetter
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import Name
from ipucloud.cli.finding import find_cluster
from ipucloud.cli.output import shown
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import PeriodEnd, PeriodStart, PeriodStep, minute
from ipucloud.client import clusters
from ipucloud.client.errors import UsageError
from ipucloud.client.models import MetricsPoint

app = typer.Typer()


MIB = 1 << 20
_COLUMNS = ("FROM", "IPUS", "UTILISATION", "POWER", "HOTTEST", "LINK ERRORS", "PARTITIONS", "CPU", "MEMORY", "OBSERVED")


@customer_command(app, "metrics", "bert", "bert --since 6h", "bert --since 7d --step 3600 --json", lists=True)
def metrics(
    session: Session,
    name: Name,
    since: PeriodStart = None,
    until: PeriodEnd = None,
    step: PeriodStep = None,
) -> None:
    """Show how busy a cluster was: IPUs, power, temperature, link errors, partitions, and its Poplar servers."""
    cluster = find_cluster(session.client, name)
    series = session.run(clusters.metrics(cluster.id, since=since, until=until, step=step))
    if session.as_json:
        session.show(series, ())
        return
    session.show_items(series.points, _COLUMNS, _row, drop=("LINK ERRORS", "MEMORY", "CPU", "OBSERVED"))
    if all(each.observed_at is None for each in series.points):
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


@customer_command(app, "console", "bert", "bert --server 1 --boot -2", "bert --list")
def console(
    session: Session,
    name: Name,
    server: Annotated[int, typer.Option(min=0, help="Index of the Poplar server, from 0.")] = 0,
    boot: Annotated[int, typer.Option(help="Number of a boot; -1 is the newest, -2 the one before it.", min=-10)] = -1,
    boots: Annotated[bool, typer.Option("--list", help="List the boots instead.")] = False,
) -> None:
    """Print what a Poplar server wrote to its serial console: kernel, cloud-init, shutdown.

    Control characters are written as \\x1b, so that nothing on the console controls your terminal.
    """
    cluster = find_cluster(session.client, name)
    if server >= len(cluster.poplar_servers):
        raise UsageError(f"Cluster {cluster.name} has {len(cluster.poplar_servers)} Poplar servers, counted from 0.")
    log = session.run(clusters.console(cluster.id, cluster.poplar_servers[server].id, boot=boot))
    if session.as_json:
        session.show(log, ())
        return
    if boots:
        session.show_items(
            log.boots,
            ("BOOT", "STARTED", "ENDED", "BYTES", "DROPPED", "OBSERVED"),
            attrgetter("number", "started_at", "ended_at", "bytes", "dropped_bytes", "observed_at"),
            drop=("DROPPED", "OBSERVED"),
        )
        return
    if log.text is None:
        known = ", ".join(str(each.number) for each in log.boots)
        raise UsageError(f"There is no such boot; there are {known}." if known else "No boot of it was observed yet.")
    shown = next(each for each in log.boots if each.number == log.boot)
    if shown.dropped_bytes:
        session.note(f"{shown.dropped_bytes} bytes before this are gone.")
    sys.stdout.write(escaped(log.text))
    if not log.text.endswith("\n"):
        sys.stdout.write("\n")


def escaped(text: str) -> str:
    """The text with its control characters written out, but for the ends of lines and tabs."""
    return "".join(
        f"\\x{ord(each):02x}" if each not in "\n\t" and unicodedata.category(each) in {"Cc", "Cf"} else each
        for each in text.replace("\r\n", "\n")
    )
