"""`ipucloud admin validate`, `validations`, `cleanings`: what is found of machines that no cluster holds."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import Patience, Wait
from ipucloud.cli.commands.admin_hardware import Machines, Pods, Racks, hardware, show_changed
from ipucloud.cli.completion import names
from ipucloud.cli.exits import Exit
from ipucloud.cli.finding import HOST, MACHINE, REGION
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.settling import until
from ipucloud.client import operator
from ipucloud.client.models import Validation

app = typer.Typer()
_COLUMNS = ("MACHINE", "STATE", "RESULT", "REASON", "SINCE", "ENDED", "FINDINGS", "REGION")
_DROP = ("REGION", "ENDED")
_TESTED = "not_validated"
"""Code of the health report of machines whose test is to come, or runs."""


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
        _COLUMNS,
        _row,
        drop=_DROP,
        wrap="FINDINGS",
    )


@customer_command(app, "validate", "--machine lux2-p001-m07", "--pod lux2-p001 --no-wait")
def validate(
    session: Session,
    *,
    machine: Machines = None,
    pod: Pods = None,
    rack: Racks = None,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Test machines that no cluster holds, and wait for the results; exit status 1 if one does not pass.

    The machines of a pod are tested together, in about ten minutes. `admin validations` shows what they wait for.
    """
    changed = session.run(operator.hardware.validate(hardware(machine, None, pod, rack)))
    requested = [each.name for each in changed.items if _TESTED in each.codes]
    if not wait or not requested:
        show_changed(session, changed)
        return
    results = [_result(session, name, patience) for name in requested]
    session.show_items(results, _COLUMNS, _row, drop=_DROP, wrap="FINDINGS")
    if any(each.result != Result.PASSED for each in results):
        raise typer.Exit(Exit.FAILED)


def _result(session: Session, machine: str, patience: float | None) -> Validation:
    """The last validation of a machine, once it has ended. Raises StateTimeoutError after `patience` seconds."""
    until(
        session,
        operator.hardware.validations(machine=machine),
        lambda now: not now.items,
        lambda now: (f"Validation of {machine} {now.items[0].state if now.items else 'ended'}", None),
        patience=patience,
        resume=f"ipucloud admin validations --machine {machine} --watch",
    )
    *_, last = session.client.items(operator.hardware.validations(machine=machine, state=State.ENDED))
    return last


def _row(validation: Validation) -> tuple[object, ...]:
    names = ("machine", "state", "result", "reason", "requested_at", "ended_at", "findings", "region")
    return tuple(getattr(validation, name) for name in names)


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
