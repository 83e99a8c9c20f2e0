"""`ipucloud admin simulated-faults`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import REGION
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import fields
from ipucloud.client import operator
from ipucloud.client.models import SimulatedFault, SimulatedFaultKind

app = typer.Typer()
simulated_faults = typer.Typer(no_args_is_help=True, help="Break and repair a simulated site over the API.")
app.add_typer(simulated_faults, name="simulated-faults")


class Link(StrEnum):
    INTERNAL = "internal"
    NEXT = "next"
    GATEWAY = "gateway"


@customer_command(simulated_faults, "list", "", "--region luxembourg-2 --open")
def list_simulated_faults(
    session: Session,
    *,
    region: Annotated[str | None, typer.Option(help="Only in this region.", autocompletion=names(REGION))] = None,
    ended: Annotated[
        bool | None, typer.Option("--ended/--open", help="Only what has ended or failed, or only what has not.")
    ] = None,
) -> None:
    """List what simulated sites were asked to break, oldest first."""
    session.list(
        operator.simulated_faults.list(region=region, ended=ended),
        ("KIND", "NAME", "LINK", "STATE", "SINCE", "DETAIL", "ID"),
        lambda each: (each.kind, each.name, each.link, each.state, each.state_entered_at, each.detail, each.id),
        drop=("LINK", "SINCE"),
        wrap="DETAIL",
    )


@customer_command(
    simulated_faults, "create", "machine lux2-p001-m07", "link lux2-p001-m07 --link next", "controllers luxembourg-2"
)
def create_simulated_fault(
    session: Session,
    kind: Annotated[SimulatedFaultKind, typer.Argument(help="What breaks.")],
    name: Annotated[str, typer.Argument(help="Name of the machine or host; of controllers the region.")],
    *,
    link: Annotated[Link | None, typer.Option(help="Which link of the machine.")] = None,
) -> None:
    """Have a simulated site break something until it is ended. Refused where the hardware is real."""
    _show(session, session.run(operator.simulated_faults.create(kind.value, name, link=link)))


@customer_command(simulated_faults, "end", "0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90")
def end_simulated_fault(
    session: Session, fault: Annotated[str, typer.Argument(help="Id of the simulated fault.")]
) -> None:
    """Have the site repair what it was asked to break."""
    _show(session, session.run(operator.simulated_faults.end(fault)))


def _show(session: Session, fault: SimulatedFault) -> None:
    session.show(fault, fields(fault, "id", "region", "kind", "name", "link", "state", "state_entered_at", "detail"))
