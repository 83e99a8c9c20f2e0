"""`ipucloud admin validations`, `cleanings`: what was found of machines that no cluster holds."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import HOST, MACHINE, REGION
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import operator

app = typer.Typer()


class State(StrEnum):
    WAITING = "waiting"
    TESTING = "testing"
    CLEARING = "clearing"
    ENDED = "ended"


class Result(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ABANDONED = "abandoned"


@customer_command(app, "validations", "--region luxembourg-2", "--machine lux2-p001-m07 --state ended", lists=True)
def validations(
    session: Session,
    *,
    region: Annotated[
        str | None, typer.Option(help="Only machines in this region.", autocompletion=names(REGION))
    ] = None,
    machine: Annotated[str | None, typer.Option(help="Only this machine.", autocompletion=names(MACHINE))] = None,
    state: Annotated[State | None, typer.Option(help="Only those in this state.")] = None,
    result: Annotated[Result | None, typer.Option(help="Only those with this result.")] = None,
) -> None:
    """List the machines that are being validated or wait for it, oldest first; or past validations."""
    session.list(
        operator.hardware.validations(region=region, machine=machine, state=state, result=result),
        ("MACHINE", "STATE", "RESULT", "REASON", "SINCE", "ENDED", "FINDINGS", "REGION"),
        lambda each: (
            each.machine,
            each.state,
            each.result,
            each.reason,
            each.requested_at,
            each.ended_at,
            each.findings,
            each.region,
        ),
        drop=("REGION", "ENDED"),
        wrap="FINDINGS",
    )


@customer_command(app, "cleanings", "--machine lux2-p001-m07", lists=True)
def cleanings(
    session: Session,
    *,
    region: Annotated[
        str | None, typer.Option(help="Only hardware in this region.", autocompletion=names(REGION))
    ] = None,
    machine: Annotated[str | None, typer.Option(help="Only this machine.", autocompletion=names(MACHINE))] = None,
    host: Annotated[str | None, typer.Option(help="Only this host.", autocompletion=names(HOST))] = None,
    cluster: Annotated[str | None, typer.Option(help="Only what this cluster had, by id.")] = None,
) -> None:
    """List what was observed of machines and hosts between two clusters, oldest first."""
    session.list(
        operator.hardware.cleanings(region=region, machine=machine, host=host, cluster=cluster),
        ("NAME", "OBSERVED AT", "OBSERVED", "PROJECT", "CLUSTER", "HELD SINCE", "RELEASED", "FREED"),
        lambda each: (
            each.name,
            each.observed_at,
            ", ".join(f"{subject} {value}" for subject, value in each.observed.items()),
            each.project,
            each.cluster,
            each.held_since,
            each.released_at,
            each.freed_at,
        ),
        drop=("FREED", "RELEASED", "HELD SINCE"),
        wrap="OBSERVED",
    )
