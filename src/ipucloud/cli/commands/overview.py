"""`ipucloud overview`."""

from __future__ import annotations

import typer

from ipucloud.cli.session import Session, customer_command
from ipucloud.client import projects
from ipucloud.client.models import Overview

app = typer.Typer()


@customer_command(app, "overview", "")
def overview(session: Session) -> None:
    """Show the project at a glance: clusters, quotas, cost, what needs attention, what is running."""
    found = session.run(projects.overview())
    session.show(found, _facts(found))
    if session.as_json:
        return
    if found.attention:
        session.show_items(
            found.attention,
            ("NEEDS ATTENTION", "STATE", "SINCE", "REASON"),
            lambda each: (each.name, each.state, each.state_entered_at, each.state_reason),
            wrap="REASON",
        )
    if found.operations:
        session.show_items(
            found.operations,
            ("RUNNING OPERATION", "KIND", "STAGE", "PROGRESS", "EXPECTED"),
            lambda each: (each.id, each.kind, each.stage, f"{each.progress} %", each.expected_at),
        )


def _facts(found: Overview) -> list[tuple[str, object]]:
    clusters = ", ".join(f"{each.clusters} {each.state}" for each in found.clusters)
    quotas = [(f"{each.machine_type} in {each.region}", f"{each.used} of {each.limit}") for each in found.quotas]
    money = found.spending
    budgets = [(f"budget {each.name}", f"{each.actual or 'nothing'} of {each.amount}") for each in money.budgets]
    return [
        ("clusters", clusters or "none"),
        ("IPUs in use", found.ipus_in_use),
        *quotas,
        (f"cost of {money.month}", f"{money.accrued}, now {money.per_hour} per hour, forecast {money.forecast}"),
        *budgets,
        ("open fault reports", found.open_fault_reports),
    ]
