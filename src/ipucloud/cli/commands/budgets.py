"""`ipucloud budgets`."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

import typer

from ipucloud.cli.completion import its_budgets, names
from ipucloud.cli.finding import ACCOUNT, budget_kind, id_of
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import Amount, Containing, Named, Order, Sorted, decimal, fields
from ipucloud.client import accounts, billing, budgets
from ipucloud.client.errors import UsageError
from ipucloud.client.models import Budget, BudgetThreshold, Money

app = typer.Typer(no_args_is_help=True)

Account = Annotated[
    str | None,
    typer.Option(
        help="Billing account (name or id) instead of the project: for its payers and operators.",
        autocompletion=names(ACCOUNT),
    ),
]
Name = Annotated[str, typer.Argument(help="Name or id of the budget.", autocompletion=names(its_budgets))]


@customer_command(app, "list", "", "--account research", "--query nlp")
def list_budgets(
    session: Session,
    *,
    name: Named = None,
    query: Containing = None,
    account: Account = None,
    order: Sorted = Order.OLDEST_FIRST,
) -> None:
    """List the budgets of the project, or of a billing account, with actual and forecast cost."""
    session.list(
        budgets.list(name=name, q=query, account=account, order=order),
        ("NAME", "AMOUNT", "ACTUAL", "FORECAST", "THRESHOLDS", "REFUSES", "ID"),
        lambda each: (
            each.name if each.tag is None else f"{each.name} ({each.tag.key}={each.tag.value})",
            each.amount,
            each.actual,
            each.forecast,
            ", ".join(map(_threshold, each.thresholds)),
            "yes" if each.refuses_creates else "",
            each.id,
        ),
        drop=("ID", "REFUSES", "FORECAST"),
        wrap="THRESHOLDS",
    )


@customer_command(app, "show", "research")
def show(session: Session, budget: Name, account: Account = None) -> None:
    """Show a budget: its cost so far, and what happens at which percentage."""
    budget_id = id_of(session.client, budget_kind(account), budget)
    record = session.run(budgets.get(budget_id, account=account))
    session.show(record, _facts(record))


@customer_command(app, "create", "research 500.00 --actual 80 --suspend-at 100")
def create(
    session: Session,
    name: Annotated[str, typer.Argument(help="Name of the budget.")],
    amount: Amount,
    *,
    currency: Annotated[str | None, typer.Option(help="ISO 4217 code; default: that of the project's cost.")] = None,
    actual: Annotated[
        list[int] | None, typer.Option(help="Notify when the cost reaches this percentage; repeatable.")
    ] = None,
    forecast: Annotated[
        list[int] | None, typer.Option(help="Notify when the forecast reaches this percentage; repeatable.")
    ] = None,
    refuse_at: Annotated[
        int | None, typer.Option(help="Refuse new clusters when the cost reaches this percentage.")
    ] = None,
    suspend_at: Annotated[
        int | None, typer.Option(help="Suspend clusters when the cost reaches this percentage.")
    ] = None,
    tag: Annotated[str | None, typer.Option(help="Only clusters with this tag, key=value.")] = None,
    account: Account = None,
) -> None:
    """Create a monthly budget. Default thresholds: 50, 80 and 100 percent actual, 100 percent forecast."""
    if refuse_at is not None and refuse_at == suspend_at:
        raise UsageError("Give --refuse-at and --suspend-at different percentages.")
    acting = {refuse_at: "refuse_creates", suspend_at: "suspend"}
    acting.pop(None, None)
    notified = (actual, forecast) if actual or forecast or acting else ([50, 80, 100], [100])
    thresholds: list[dict[str, object]] = [
        {"on": on, "percent": percent}
        for on, percents in zip(("actual", "forecast"), notified, strict=True)
        for percent in percents or ()
        if on == "forecast" or percent not in acting
    ]
    thresholds += [{"on": "actual", "percent": percent, "action": action} for percent, action in acting.items()]
    if account is not None and tag is not None:
        raise UsageError("An account's budget covers all its projects; --tag is for a project's budget.")
    spent = billing.summary() if account is None else accounts.summary(account)
    money = Money(amount=amount, currency=currency or session.run(spent).accrued.currency)
    budget = session.run(budgets.create(name, money, thresholds, tag=_tag(tag), account=account))
    session.show(budget, _facts(budget))


@customer_command(app, "update", "research --amount 750.00")
def update(
    session: Session,
    budget: Name,
    *,
    amount: Annotated[Decimal | None, typer.Option(parser=decimal, metavar="AMOUNT", help="Amount per month.")] = None,
    currency: Annotated[str | None, typer.Option(help="ISO 4217 code; default: as it is.")] = None,
    name: Annotated[str | None, typer.Option(help="New name.")] = None,
    account: Account = None,
) -> None:
    """Change a budget. If its amount is now sufficient, refused requests are allowed immediately."""
    budget_id = id_of(session.client, budget_kind(account), budget)
    money = None
    if amount is not None:
        money = Money(
            amount=amount, currency=currency or session.run(budgets.get(budget_id, account=account)).amount.currency
        )
    changed = session.run(budgets.update(budget_id, name=name, amount=money, account=account))
    session.show(changed, _facts(changed))


@customer_command(app, "delete", "research")
def delete(
    session: Session,
    budget: Name,
    account: Account = None,
) -> None:
    """Delete a budget."""
    budget_id = id_of(session.client, budget_kind(account), budget)
    session.run(budgets.delete(budget_id, account=account))
    session.done("deleted", budget_id)


def _facts(budget: Budget) -> list[tuple[str, object]]:
    return [
        *fields(budget, "id", "name", "amount"),
        ("scope", budget.scope if budget.tag is None else f"{budget.tag.key}={budget.tag.value}"),
        ("actual", budget.actual),
        ("forecast", budget.forecast),
        *(("at", _threshold(each)) for each in budget.thresholds),
    ]


def _threshold(threshold: BudgetThreshold) -> str:
    """When it is reached, and what happens then, in a line."""
    action = {"refuse_creates": ": new clusters are refused", "suspend": ": clusters are suspended"}
    reached = "" if threshold.reached_at is None else " reached"
    return f"{threshold.on} {threshold.percent} %{reached}{action.get(threshold.action or '', '')}"


def _tag(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    key, sign, value = text.partition("=")
    if not sign:
        raise UsageError("Write a tag as key=value.")
    return key, value
