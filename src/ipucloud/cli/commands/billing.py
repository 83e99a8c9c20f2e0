"""`ipucloud billing`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, TypedDict

import typer

from ipucloud.cli.commands import invoices
from ipucloud.cli.commands.spend import spend
from ipucloud.cli.completion import names
from ipucloud.cli.finding import CLUSTER, find_cluster
from ipucloud.cli.output import writable, write
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import minute, utc
from ipucloud.cli.values import per_unit
from ipucloud.client import billing, clusters, prices
from ipucloud.client.call import Call
from ipucloud.client.models import Funds, Report

app = typer.Typer(no_args_is_help=True)

FUNDS = (
    *("wallet", "credit", "outstanding", "unbilled", "unposted", "held", "tax", "available"),
    *("expiring", "per_hour", "lasts_until"),
)
"""What is shown of funds; `available` is made of those before it."""
app.add_typer(invoices.app)

Since = Annotated[datetime | None, typer.Option(help="UTC, a full hour; default: the start of the month.")]
Until = Annotated[datetime | None, typer.Option(help="UTC, a full hour; default: the current one.")]
By = Annotated[
    list[str] | None,
    typer.Option(help="cluster, project, flavor, region, sku, day, month or tag:<key>; up to four times."),
]
Csv = Annotated[Path | None, typer.Option(callback=writable, help="Write the report to this file as CSV.")]
Bom = Annotated[bool, typer.Option("--bom", help="Begin CSV with a byte order mark, for spreadsheets.")]


class Period(TypedDict):
    """What a report covers, and how it is grouped."""

    since: datetime | None
    until: datetime | None
    group_by: list[str]


@customer_command(app, "account")
def account(session: Session) -> None:
    """Show the account that pays for the project, with balances up to the last closed hour."""
    payer = session.run(billing.account())
    facts = [("id", payer.id), ("name", payer.name), ("legal name", payer.legal_name), ("currency", payer.currency)]
    session.show(payer, [*facts, *invoices.balances_of(payer.balances)])


@customer_command(app, "explain", "bert", "bert --since 2026-05-04 --until 2026-05-05", lists=True)
def explain(
    session: Session,
    cluster: Annotated[str, typer.Argument(help="Name or id, even if deleted.", autocompletion=names(CLUSTER))],
    since: Annotated[datetime | None, typer.Option(help="UTC; default: a day ago.")] = None,
    until: Annotated[datetime | None, typer.Option(help="UTC; default: now.")] = None,
) -> None:
    """Show a cluster's charges: minutes by hour, price and formula."""
    shown = session.list(
        clusters.charges(find_cluster(session.client, cluster, deleted=True).id, since=utc(since), until=utc(until)),
        ("FROM", "UNTIL", "PRICE OF", "FORMULA", "KIND"),
        lambda each: (
            minute(each.started_at),
            minute(each.ended_at),
            f"{each.price.sku} since {each.price.valid_from:%Y-%m-%d}",
            each.formula,
            "correction" if each.correction else "contract" if each.price.contract else "list",
        ),
        drop=("KIND", "UNTIL", "PRICE OF"),
    )
    if not shown and since is None:
        session.note(f"{cluster} has no charges of the last day. Look further back with --since.")


@customer_command(
    app, "report", "--by project --by month", "--since 2026-05-01 --until 2026-06-01 --csv may.csv", lists=True
)
def report(
    session: Session, *, since: Since = None, until: Until = None, by: By = None, csv: Csv = None, bom: Bom = False
) -> None:
    """Report the project's charges, by default grouped by cluster."""
    period: Period = {"since": utc(since), "until": utc(until), "group_by": by or ["cluster"]}
    if csv is None:
        show_report(session, session.run(billing.report(**period)))
    else:
        save(session, csv, billing.report_csv(**period, bom=bom))


def save(session: Session, csv: Path, report: Call[bytes]) -> None:
    """Write a report to a file."""
    write(csv, session.run(report))
    session.done("written", csv)


def show_report(session: Session, report: Report) -> None:
    """Show the charges of a project or an account."""
    if session.as_json:
        session.show(report, ())
        return
    session.show_items(
        report.rows,
        (
            *(name.upper().replace("_", " ") for name in report.columns),
            "MINUTES",
            "MACHINE MINUTES",
            "CREDITED",
            "COST",
        ),
        lambda row: (
            *(row.group[name] or "" for name in report.columns),
            row.minutes,
            row.machine_minutes,
            row.credited_machine_minutes,
            row.cost,
        ),
    )
    for total in report.totals:
        session.note(
            f"total: {total.minutes} min, {total.cost}; posted until {minute(report.posted_until) or 'no hour yet'}"
        )


@customer_command(app, "prices", lists=True)
def list_prices(session: Session) -> None:
    """Show the project's current and future prices."""
    session.list(
        prices.of_project(),
        ("SKU", "REGION", "PRICE", "PER", "FROM", "UNTIL", "KIND"),
        lambda each: (
            each.sku,
            each.region,
            per_unit(each.unit_price),
            each.unit,
            minute(each.valid_from),
            minute(each.valid_to),
            "contract" if each.contract else "list",
        ),
        drop=("KIND", "UNTIL", "FROM"),
    )


customer_command(app, "", "", "--month 2026-05", alias="summary")(spend)  # its former name


@customer_command(app, "funds")
def funds(session: Session) -> None:
    """Show the funds of the account that pays for the project, and whether it is prepaid."""
    account_funds = session.run(billing.funds())
    facts = [("prepaid", account_funds.when_empty or "no"), ("state", account_funds.state or "")]
    session.show(
        account_funds, [*facts, *((name, getattr(account_funds, name)) for name in FUNDS), *top_up_facts(account_funds)]
    )


def top_up_facts(funds: Funds) -> list[tuple[str, object]]:
    """How the account is topped up, if it is."""
    policy = funds.top_up
    if policy is None:
        return []
    level = f"{policy.below_hours} hours" if policy.below is None else str(policy.below)
    now = f"paused: {policy.pause_reason}" if policy.pause_reason else policy.reference or "active"
    facts = (("top-up", f"{policy.amount} at {level}"), ("top-ups now", now))
    return [*facts, ("top-ups this month", f"{policy.this_month} of {policy.month_limit}")]
