"""`ipucloud admin fault-reports`."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import REGION
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import past
from ipucloud.cli.values import fields
from ipucloud.client import operator
from ipucloud.client.models import FaultReportState, OperatorFaultReport

app = typer.Typer()
fault_reports = typer.Typer(no_args_is_help=True, help="Answer the faults that customers report.")
app.add_typer(fault_reports, name="fault-reports")

Id = Annotated[str, typer.Argument(help="Id of the fault report.")]


class Code(StrEnum):
    BMC_CRITICAL = "bmc_critical"
    LINK_DOWN = "link_down"
    HOST_FAILED = "host_failed"


@customer_command(fault_reports, "list", "--state open")
def list_fault_reports(
    session: Session,
    state: Annotated[FaultReportState | None, typer.Option(help="Only those in this state.")] = None,
    region: Annotated[str | None, typer.Option(help="Only those in this region.", autocompletion=names(REGION))] = None,
    of: Annotated[str | None, typer.Option(metavar="PROJECT", help="Only those of this project, by slug.")] = None,
    hardware: Annotated[str | None, typer.Option(help="Only those about this machine or host, by name.")] = None,
) -> None:
    """List the faults that customers reported, oldest first."""
    session.list(
        operator.fault_reports.list(state=state, region=region, project=of, hardware=hardware),
        ("HARDWARE", "STATE", "REPORTED", "PROJECT", "CLUSTER", "CATEGORY", "DESCRIPTION", "ID"),
        attrgetter("hardware", "state", "created_at", "project", "cluster_name", "category", "description", "id"),
        drop=("CATEGORY", "PROJECT", "REPORTED"),
        wrap="DESCRIPTION",
    )


@customer_command(fault_reports, "show", "0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90")
def show_fault_report(session: Session, report: Id) -> None:
    """Show a fault report with its customer and hardware."""
    _show(session, session.run(operator.fault_reports.get(report)))


@customer_command(
    fault_reports,
    "confirm",
    '0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90 --answer "its tile memory has errors" --observed-at 2026-05-04T10:05',
)
def confirm_fault_report(
    session: Session,
    report: Id,
    *,
    answer: Annotated[str, typer.Option(help="What was found; the customer reads it.")],
    code: Annotated[Code | None, typer.Option(help="Code of the health report; default: the hardware failed.")] = None,
    observed_at: Annotated[
        datetime | None,
        typer.Option(
            parser=past, metavar="WHEN", help="When evidence first shows the fault, in UTC: the credit begins then."
        ),
    ] = None,
) -> None:
    """Make a health report of the hardware: the cluster is degraded, credited and repaired."""
    _show(
        session, session.run(operator.fault_reports.confirm(report, answer=answer, code=code, observed_at=observed_at))
    )


@customer_command(fault_reports, "dismiss", '0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90 --reason "every test passes"')
def dismiss_fault_report(
    session: Session, report: Id, *, reason: Annotated[str, typer.Option(help="Why; the customer reads it.")]
) -> None:
    """Tell the customer that nothing was found, and why."""
    _show(session, session.run(operator.fault_reports.dismiss(report, reason=reason)))


def _show(session: Session, report: OperatorFaultReport) -> None:
    names = ("id", "state", "project", "cluster_name", "cluster", "region", "kind", "name", "hardware", "held")
    said = ("category", "description", "since", "created_at", "answer", "answered_at", "report_id", "repaired_at")
    session.show(report, fields(report, *names, *said))
