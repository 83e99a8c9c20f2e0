"""`ipucloud projects` and `overview`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.cluster_options import Yes
from ipucloud.cli.completion import names
from ipucloud.cli.finding import PROJECT
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import Order, Sorted
from ipucloud.client import projects
from ipucloud.client.models import Overview, Project

app = typer.Typer(no_args_is_help=True)

Ref = Annotated[str, typer.Argument(help="Id, number or slug.", autocompletion=names(PROJECT))]


@customer_command(app, "list", "", "--query nlp")
def list_projects(
    session: Session,
    *,
    name: Annotated[str | None, typer.Option(help="Only projects with exactly this name or slug.")] = None,
    query: Annotated[str | None, typer.Option("--query", "-q", help="Only projects with this in either.")] = None,
    order: Sorted = Order.NEWEST_FIRST,
) -> None:
    """List the projects visible to the token."""
    session.list(
        projects.list(name=name, q=query, order=order),
        ("SLUG", "NUMBER", "NAME", "ID"),
        lambda each: (each.slug, each.number, each.name, each.id),
        drop=("NUMBER", "ID", "NAME"),
    )


@customer_command(app, "show", "research")
def show(session: Session, ref: Ref) -> None:
    """Show a project."""
    _show(session, session.run(projects.get(ref)))


@customer_command(app, "create", 'research --name "Research group"')
def create(
    session: Session,
    slug: Annotated[str, typer.Argument(help="Short name in URLs.")],
    name: Annotated[str | None, typer.Option(help="Display name; default: the slug.")] = None,
) -> None:
    """Create a project. Needs a platform token."""
    _show(session, session.run(projects.create(slug, name or slug)))


@customer_command(app, "update", 'research --name "Research group"')
def update(session: Session, ref: Ref, name: Annotated[str, typer.Option(help="New display name.")]) -> None:
    """Rename a project; its slug never changes. Needs a platform token."""
    _show(session, session.run(projects.update(ref, name=name)))


@customer_command(app, "delete", "research --yes")
def delete(session: Session, ref: Ref, yes: Yes = False) -> None:
    """Delete a project without machines: its tokens stop working. Needs a platform token."""
    if not yes:
        session.confirm(f"Delete project {ref}?", "delete the project")
    session.run(projects.delete(ref))
    session.done("deleted", ref)


def _show(session: Session, project: Project) -> None:
    session.show(
        project, [("slug", project.slug), ("number", project.number), ("name", project.name), ("id", project.id)]
    )


overview_app = typer.Typer()


@customer_command(overview_app, "overview", "")
def overview(session: Session) -> None:
    """Show the project at a glance: clusters, quotas, cost, what needs attention, what is running."""
    summary = session.run(projects.overview())
    session.show(summary, _facts(summary))
    if session.as_json:
        return
    if summary.attention:
        session.show_items(
            summary.attention,
            ("NEEDS ATTENTION", "STATE", "SINCE", "REASON"),
            lambda each: (each.name, each.state, each.state_entered_at, each.state_reason),
            wrap="REASON",
        )
    if summary.operations:
        session.show_items(
            summary.operations,
            ("RUNNING OPERATION", "KIND", "STAGE", "PROGRESS", "EXPECTED"),
            lambda each: (each.id, each.kind, each.stage, f"{each.progress} %", each.expected_at),
        )


def _facts(summary: Overview) -> list[tuple[str, object]]:
    clusters = ", ".join(f"{each.clusters} {each.state}" for each in summary.clusters)
    quotas = [(f"{each.machine_type} in {each.region}", f"{each.used} of {each.limit}") for each in summary.quotas]
    money = summary.spending
    budgets = [(f"budget {each.name}", f"{each.actual or 'nothing'} of {each.amount}") for each in money.budgets]
    return [
        ("clusters", clusters or "none"),
        ("IPUs in use", summary.ipus_in_use),
        *quotas,
        (f"cost of {money.month}", f"{money.accrued}, now {money.per_hour} per hour, forecast {money.forecast}"),
        *budgets,
        ("open fault reports", summary.open_fault_reports),
    ]
