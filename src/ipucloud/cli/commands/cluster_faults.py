"""`ipucloud clusters report-fault`, `fault-reports`."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import Name
from ipucloud.cli.completion import names
from ipucloud.cli.finding import CLUSTER, find_cluster
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import past
from ipucloud.cli.values import fields
from ipucloud.client import fault_reports
from ipucloud.client.errors import UsageError
from ipucloud.client.models import FaultReportState

app = typer.Typer()


class Category(StrEnum):
    IPU = "ipu"
    LINK = "link"
    SERVER = "server"
    DISK = "disk"
    NETWORK = "network"
    PERFORMANCE = "performance"
    OTHER = "other"


@customer_command(
    app,
    "report-fault",
    'bert --machine lux2-p001-m01 --category ipu "IPU 3 hangs in every run"',
    'bert --server 0 --since 2026-05-04T09:30 "the disk is slow"',
)
def report_fault(
    session: Session,
    name: Name,
    description: Annotated[str, typer.Argument(help="What happens, for the operator.")],
    *,
    machine: Annotated[str | None, typer.Option(help="Name of the machine that does not work.")] = None,
    server: Annotated[int | None, typer.Option(min=0, help="Index of the Poplar server that does not, from 0.")] = None,
    category: Annotated[Category, typer.Option(help="What seems to be affected.")] = Category.OTHER,
    since: Annotated[
        datetime | None, typer.Option(parser=past, metavar="WHEN", help="When it was first noticed, in UTC.")
    ] = None,
) -> None:
    """Tell the operator that hardware of a cluster does not work, although no fault is shown."""
    if (machine is None) == (server is None):
        raise UsageError("Give either --machine or --server.")
    cluster = find_cluster(session.client, name)
    if server is not None and server >= len(cluster.poplar_servers):
        raise UsageError(f"Cluster {cluster.name} has {len(cluster.poplar_servers)} Poplar servers, counted from 0.")
    call = fault_reports.create(
        cluster.id,
        description=description,
        machine=machine,
        server=None if server is None else cluster.poplar_servers[server].id,
        category=category,
        since=since,
    )
    report = session.run(call)
    session.show(report, fields(report, "id", "state", "kind", "name", "category", "description", "created_at"))


@customer_command(app, "fault-reports", "", "bert --state open")
def list_fault_reports(
    session: Session,
    name: Annotated[
        str | None, typer.Argument(help="Only those of this cluster, by name or id.", autocompletion=names(CLUSTER))
    ] = None,
    state: Annotated[FaultReportState | None, typer.Option(help="Only those in this state.")] = None,
) -> None:
    """List the faults that were reported to the operator, newest first, with the answers."""
    cluster = None if name is None else find_cluster(session.client, name).id
    session.list(
        fault_reports.list(cluster=cluster, state=() if state is None else (state,)),
        ("NAME", "STATE", "REPORTED", "DESCRIPTION", "ANSWER", "REPAIRED", "ID"),
        attrgetter("name", "state", "created_at", "description", "answer", "repaired_at", "id"),
        drop=("REPAIRED", "REPORTED", "ID"),
        wrap="DESCRIPTION",
    )
