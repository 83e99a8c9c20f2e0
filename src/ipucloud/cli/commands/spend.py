"""`ipucloud spend` and `usage`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Annotated

import typer

from ipucloud.cli.commands.invoices import balances_of
from ipucloud.cli.completion import names
from ipucloud.cli.finding import ACCOUNT, CLUSTER, find_cluster
from ipucloud.cli.session import Session, customer_command, own_account
from ipucloud.cli.times import utc
from ipucloud.cli.values import fields
from ipucloud.client import accounts, billing, clusters
from ipucloud.client.errors import ApiError, UsageError
from ipucloud.client.models import Budget, FlavorSpending, ProjectUsage, SkuSpending, Summary, TagSpending, Usage

app = typer.Typer()

Month = Annotated[str | None, typer.Option(help="Month in UTC, such as 2026-05; default: the current one.")]


@customer_command(app, "spend", "", "--month 2026-05", "--account research")
def spend(
    session: Session,
    month: Month = None,
    account: Annotated[
        str | None,
        typer.Option(
            help="All projects that this account pays for; default: a payer's own account.",
            autocompletion=names(ACCOUNT),
        ),
    ] = None,
) -> None:
    """Show what the project spent this month, on what, the forecast for its end, budgets and balance."""
    if account is None and session.configured.project is None:  # no other token lacks a project by intention
        account = own_account(session)
    if account is not None:
        show_summary(session, session.run(accounts.summary(account, month=month)))
        return
    try:
        summary = session.run(billing.summary(month=month))
    except ApiError as error:
        # A payer's token of the environment, with the project of a stored profile.
        if error.code != "not_found" or session.project or (account := own_account(session)) is None:
            raise
        summary = session.run(accounts.summary(account, month=month))
    show_summary(session, summary)


def show_summary(session: Session, summary: Summary) -> None:
    """Show what a project or an account spent."""
    session.show(summary, _facts(summary))
    if session.as_json:
        return
    session.show_items(
        summary.clusters,
        ("CLUSTER", "FLAVOR", "STATE", "MINUTES", "ACCRUED", "PER HOUR", "FORECAST", "MONTH BEFORE", "ID"),
        lambda each: (
            *(each.name, each.flavor, each.state, each.minutes),
            *(each.accrued, each.per_hour, each.forecast, each.previous, each.cluster_id),
        ),
        drop=("ID", "FLAVOR", "MINUTES", "MONTH BEFORE", "STATE"),
    )
    # A table for each: the cost of a cluster is in its flavors, in its SKUs, and in each of its tags.
    groups: dict[str, list[tuple[object, ...]]] = defaultdict(list)
    for flavor in summary.flavors:
        groups["FLAVOR"].append((flavor.flavor, *_figures(flavor)))
    for sku in summary.skus:
        groups["SKU"].append((sku.sku, *_figures(sku)))
    for tag in summary.tags:
        groups[f"TAG {tag.key}"].append((tag.value, *_figures(tag)))
    for title, rows in groups.items():
        session.show_items(rows, (title, "ACCRUED", "FORECAST", "MONTH BEFORE"), lambda each: each)
    if summary.budgets:
        session.show_items(
            summary.budgets,
            ("BUDGET", "AMOUNT", "ACCRUED", "FORECAST", "USED"),
            lambda each: (each.name, each.amount, each.actual, each.forecast, _used(each)),
        )
    for note in _notes(summary):
        session.note(note)


def _figures(part: FlavorSpending | SkuSpending | TagSpending) -> tuple[object, ...]:
    return part.accrued, part.forecast, part.previous


def _facts(summary: Summary) -> list[tuple[str, object]]:
    before = summary.previous
    facts: list[tuple[str, object]] = [
        *fields(summary, "month", "accrued", "posted", "unposted"),
        ("per hour now", summary.per_hour),
        ("forecast", summary.forecast),
        ("month before", f"{before.accrued} until {before.until:%Y-%m-%d %H:%M}, {before.total} in all"),
        ("observed at", summary.observed_at),
    ]
    if summary.tax:
        facts.append(("tax", f"{summary.tax.on_accrued} of accrued, {summary.tax.on_forecast} of the forecast"))
    return [*facts, *balances_of(summary.balances)]


def _used(budget: Budget) -> str | None:
    if budget.actual is None or not budget.amount.amount:
        return None
    return f"{100 * budget.actual.amount / budget.amount.amount:.0f} %"


def _notes(summary: Summary) -> Iterator[str]:
    """What stands out, and what the amounts do not include."""
    for each in summary.unusual_days:
        yield f"Unusual: {each.day} cost {each.cost}; a {each.day:%A} usually costs {each.usual}."
    if len(summary.clusters) < summary.cluster_count:
        yield f"Clusters that are not listed, because they cost less: {summary.cluster_count - len(summary.clusters)}."
    if summary.unpriced_minutes:
        yield f"Minutes without a price, which are not included: {summary.unpriced_minutes}. Contact the operator."
    tax = f"{summary.tax.name} of {(100 * Decimal(summary.tax.rate)).normalize():f} %" if summary.tax else "tax"
    yield f"Invoices add {tax} and subtract promotional credit, of which {summary.credit} remains."


usage_app = typer.Typer()


@customer_command(usage_app, "usage", "", "bert", "--since 2026-05-01 --until 2026-06-01")
def usage(
    session: Session,
    cluster: Annotated[
        str | None,
        typer.Argument(help="Name or id, even if deleted; default: the project.", autocompletion=names(CLUSTER)),
    ] = None,
    since: Annotated[datetime | None, typer.Option(help="UTC; default: the start of the month.")] = None,
    until: Annotated[datetime | None, typer.Option(help="UTC; default: now.")] = None,
) -> None:
    """Show minutes and cost so far of a cluster or the project."""
    if cluster is not None and (since or until):
        raise UsageError("A cluster's usage covers its whole life: omit --since and --until.")
    if cluster is None:
        whole = session.run(billing.usage(since=utc(since), until=utc(until)))
        facts: list[tuple[str, object]] = [(each.name, f"{each.minutes} min, {each.cost}") for each in whole.clusters]
        session.show(whole, [*_usage_facts(whole), *facts])
    else:
        one = session.run(clusters.usage(find_cluster(session.client, cluster, deleted=True).id))
        session.show(one, _usage_facts(one))


def _usage_facts(usage: Usage | ProjectUsage) -> list[tuple[str, object]]:
    credited = [("minutes with credited machines", usage.credited_minutes)] if usage.credited_minutes else []
    return [
        *fields(usage, "since", "until", "minutes"),
        *credited,
        ("cost", usage.cost),
    ]
