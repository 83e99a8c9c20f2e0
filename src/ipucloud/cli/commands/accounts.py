"""`ipucloud accounts`."""

from __future__ import annotations

import json
from decimal import Decimal
from enum import StrEnum
from itertools import islice
from typing import Annotated

import typer
from pydantic import BaseModel

from ipucloud.cli.commands.billing import FUNDS, Bom, By, Csv, Period, Since, Until, save, show_report, top_up_facts
from ipucloud.cli.commands.events import AsCloudEvents, follow_events, of_type, write_cloud_events
from ipucloud.cli.commands.spend import Month, show_summary
from ipucloud.cli.completion import names
from ipucloud.cli.finding import ACCOUNT
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import utc
from ipucloud.cli.values import Amount, decimal, fields, key_values
from ipucloud.client import accounts
from ipucloud.client.errors import UsageError
from ipucloud.client.models import BillingAccount, Dunning, Event, Funds, Money, PaymentMethod

app = typer.Typer(no_args_is_help=True)

Account = Annotated[str, typer.Argument(help="Name or id of the account.", autocompletion=names(ACCOUNT))]
LegalName = Annotated[str | None, typer.Option(help="Name printed on invoices.")]
Address = Annotated[str | None, typer.Option(help="Address printed on invoices; it may have several lines.")]
TaxId = Annotated[str | None, typer.Option(help="VAT or other tax number.")]
Country = Annotated[str | None, typer.Option(help="ISO 3166 code, such as LU.")]
TaxExempt = Annotated[bool | None, typer.Option("--tax-exempt/--no-tax-exempt", help="Charge no tax.")]
EInvoice = Annotated[
    list[str] | None,
    typer.Option(
        "--e-invoice",
        metavar="KEY=VALUE",
        help="A fact of electronic invoices, such as electronic_address=EM:billing@example.com; repeatable.",
    ),
]
PaymentDays = Annotated[int | None, typer.Option(min=0, help="Days between an invoice and its due date.")]


class WhenEmpty(StrEnum):
    WARN = "warn"
    REFUSE_CREATES = "refuse_creates"
    SUSPEND = "suspend"


@customer_command(app, "create", '"Research group" --currency EUR --country LU')
def create(
    session: Session,
    name: Annotated[str, typer.Argument(help="Name of the account.")],
    *,
    currency: Annotated[str, typer.Option(help="ISO 4217 code, such as EUR.")],
    legal_name: LegalName = None,
    address: Address = None,
    tax_id: TaxId = None,
    country: Country = None,
    tax_exempt: TaxExempt = None,
    payment_days: PaymentDays = None,
    e_invoice: EInvoice = None,
) -> None:
    """Create a billing account; `accounts assign` lets it pay for projects. Needs a platform token."""
    call = accounts.create(
        name,
        currency,
        legal_name=legal_name,
        address=address,
        tax_id=tax_id,
        country=country,
        tax_exempt=tax_exempt,
        payment_days=payment_days,
        e_invoice=key_values(e_invoice) or None,
    )
    _show(session, session.run(call))


@customer_command(app, "list")
def list_accounts(session: Session) -> None:
    """List the billing accounts, newest first. For payers, who see their own, and operators."""
    session.list(
        accounts.list(),
        ("NAME", "CURRENCY", "LEGAL NAME", "COUNTRY", "CREATED", "ID"),
        lambda each: (each.name, each.currency, each.legal_name, each.country, each.created_at, each.id),
        drop=("ID", "CREATED", "COUNTRY", "LEGAL NAME"),
    )


@customer_command(app, "show", "research")
def show(session: Session, account: Account) -> None:
    """Show a billing account. For payers and operators."""
    _show(session, session.run(accounts.get(account)))


@customer_command(app, "update", 'research --legal-name "Research GmbH" --payment-days 14')
def update(
    session: Session,
    account: Account,
    *,
    name: Annotated[str | None, typer.Option(help="New name.")] = None,
    legal_name: LegalName = None,
    address: Address = None,
    tax_id: TaxId = None,
    country: Country = None,
    tax_exempt: TaxExempt = None,
    payment_days: PaymentDays = None,
    e_invoice: EInvoice = None,
) -> None:
    """Change a billing account; issued invoices never change. Needs a platform token."""
    changed = (name, legal_name, address, tax_id, country, tax_exempt, payment_days, e_invoice or None)
    if all(each is None for each in changed):
        raise UsageError("Give at least one change, such as --payment-days 14.")
    call = accounts.update(
        account,
        name=name,
        legal_name=legal_name,
        address=address,
        tax_id=tax_id,
        country=country,
        tax_exempt=tax_exempt,
        payment_days=payment_days,
        e_invoice=key_values(e_invoice) or None,
    )
    _show(session, session.run(call))


@customer_command(app, "assign", "research --project vision")
def assign(session: Session, account: Account) -> None:
    """Make an account pay for the project, from one of the next two full hours on. Needs a platform token."""
    _show(session, session.run(accounts.assign(session.run(accounts.get(account)).id)))


@customer_command(app, "invoices", "research", lists=True)
def list_invoices(session: Session, account: Account) -> None:
    """List an account's invoices and credit notes, newest first. For payers and operators."""
    session.list(
        accounts.invoices(account),
        ("NUMBER", "MONTH", "ISSUED", "DUE", "TOTAL", "OUTSTANDING"),
        lambda each: (each.number, each.month, f"{each.issued_at:%Y-%m-%d}", each.due_on, each.total, each.outstanding),
    )


@customer_command(app, "summary", "research", "research --month 2026-05")
def summary(session: Session, account: Account, month: Month = None) -> None:
    """Show what an account's projects spent this month, and the forecast for its end. For payers and operators."""
    show_summary(session, session.run(accounts.summary(account, month=month)))


@customer_command(app, "report", "research --by project", "research --by month --csv charges.csv", lists=True)
def report(
    session: Session,
    account: Account,
    *,
    since: Since = None,
    until: Until = None,
    by: By = None,
    csv: Csv = None,
    bom: Bom = False,
) -> None:
    """Report the charges of an account, by default grouped by project. For payers and operators."""
    period: Period = {"since": utc(since), "until": utc(until), "group_by": by or ["project"]}
    if csv is None:
        show_report(session, session.run(accounts.report(account, **period)))
    else:
        save(session, csv, accounts.report_csv(account, **period, bom=bom))


@customer_command(app, "funds", "research")
def funds(session: Session, account: Account) -> None:
    """Show an account's funds, and whether it is prepaid. For payers and operators."""
    _show_funds(session, session.run(accounts.funds(account)))


@customer_command(app, "set-prepaid", "research suspend", "research suspend --warn-hours 48 --warn-hours 8")
def set_prepaid(
    session: Session,
    account: Account,
    when_empty: Annotated[WhenEmpty, typer.Argument(help="What happens when the funds are exhausted.")],
    *,
    warn_hours: Annotated[
        list[int] | None,
        typer.Option(min=1, max=720, help="Report funds that last no longer; repeatable. Default: 72, 24 and 4."),
    ] = None,
) -> None:
    """Make an account prepaid. Needs a platform token."""
    _show_funds(session, session.run(accounts.set_prepaid(account, when_empty, warn_hours=warn_hours or None)))


@customer_command(app, "end-prepaid", "research")
def end_prepaid(session: Session, account: Account) -> None:
    """End an account's prepayment: its usage is invoiced again. Needs a platform token."""
    session.run(accounts.end_prepaid(account))
    session.done("ended", account)


@customer_command(
    app,
    "set-top-up",
    "research 200.00 --below 50.00 --month-limit 1000.00",
    "research 200.00 --below-hours 24 --month-limit 1000.00",
)
def set_top_up(
    session: Session,
    account: Account,
    amount: Amount,
    *,
    month_limit: Annotated[
        Decimal, typer.Option(parser=decimal, metavar="AMOUNT", help="Limit for the top-ups of a UTC month.")
    ],
    below: Annotated[
        Decimal | None,
        typer.Option(parser=decimal, metavar="AMOUNT", help="Top up when so much or less is left."),
    ] = None,
    below_hours: Annotated[
        int | None, typer.Option(min=1, max=720, help="Top up when the funds last no longer than so many hours.")
    ] = None,
) -> None:
    """Top a prepaid account up automatically, or resume that. Needs a platform token."""
    if (below is None) == (below_hours is None):
        raise UsageError("Give either --below or --below-hours.")
    currency = session.run(accounts.get(account)).currency
    call = accounts.set_top_up(
        account,
        Money(amount=amount, currency=currency),
        month_limit=Money(amount=month_limit, currency=currency),
        below=None if below is None else Money(amount=below, currency=currency),
        below_hours=below_hours,
    )
    _show_funds(session, session.run(call))


@customer_command(app, "end-top-up", "research")
def end_top_up(session: Session, account: Account) -> None:
    """Top an account up no more. Needs a platform token."""
    session.run(accounts.end_top_up(account))
    session.done("ended", account)


@customer_command(app, "payment-method", "research")
def payment_method(session: Session, account: Account) -> None:
    """Show what automatic top-ups of an account are charged to. For its payers."""
    _show_method(session, session.run(accounts.payment_method(account)))


@customer_command(app, "set-payment-method", "research cus_Qk3v7Jw1ZpLm2x pm_1PqR8sKZ2eXw4Yd0")
def set_payment_method(
    session: Session,
    account: Account,
    customer: Annotated[str, typer.Argument(help="Stripe's id of the customer: cus_…")],
    method: Annotated[str, typer.Argument(help="Stripe's id of the saved payment method: pm_…")],
) -> None:
    """Charge automatic top-ups to a payment method that was saved at Stripe. Needs a platform token."""
    _show_method(session, session.run(accounts.set_payment_method(account, customer=customer, payment_method=method)))


@customer_command(app, "remove-payment-method", "research")
def remove_payment_method(session: Session, account: Account) -> None:
    """Charge automatic top-ups to nothing. Needs a platform token."""
    session.run(accounts.remove_payment_method(account))
    session.done("removed", account)


def _show_method(session: Session, method: PaymentMethod) -> None:
    session.show(method, fields(method, "customer", "payment_method", "set_at"))


@customer_command(app, "dunning", "research")
def show_dunning(session: Session, account: Account) -> None:
    """Show what follows when invoices of an account are overdue, and what is. For payers and operators."""
    _show_dunning(session, session.run(accounts.dunning(account)))


@customer_command(
    app,
    "set-dunning",
    "research",
    "research --remind-after 3 --remind-after 10 --refuse-creates-after 14 --suspend-after 30",
)
def set_dunning(
    session: Session,
    account: Account,
    *,
    remind_after: Annotated[
        list[int] | None,
        typer.Option(min=1, max=365, help="Days after the due date; repeatable. Default: 1, 8 and 15."),
    ] = None,
    refuse_creates_after: Annotated[
        int | None, typer.Option(min=1, max=365, help="Days until creates are refused; default: never.")
    ] = None,
    suspend_after: Annotated[
        int | None, typer.Option(min=1, max=365, help="Days until clusters are suspended; default: never.")
    ] = None,
) -> None:
    """Set what follows when invoices of an account are overdue. Needs a platform token."""
    call = accounts.set_dunning(
        account,
        remind_after=remind_after or None,
        refuse_creates_after=refuse_creates_after,
        suspend_after=suspend_after,
    )
    _show_dunning(session, session.run(call))


@customer_command(app, "end-dunning", "research")
def end_dunning(session: Session, account: Account) -> None:
    """Send no more reminders, and lift an account's restriction. Needs a platform token."""
    session.run(accounts.end_dunning(account))
    session.done("ended", account)


@customer_command(
    app, "events", "research", "research --follow --type invoice.issued --type payment.received", lists=True
)
def list_events(
    session: Session,
    account: Account,
    *,
    types: Annotated[list[str] | None, typer.Option("--type", help="Only of this type; repeatable.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of events.")] = 100,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Continue with new events, until Ctrl-C.")] = False,
    cloud_events: AsCloudEvents = False,
) -> None:
    """Show what happened to an account's money, newest first; with --follow oldest first. For payers and operators."""
    chosen = types or ()
    if cloud_events:
        request = accounts.cloud_events(account, type=chosen, limit=min(limit, 1000))
        write_cloud_events(session, request, limit, follow=follow)
        return
    call = accounts.events(account, type=chosen, limit=min(limit, 1000))
    latest = [*islice(session.client.items(call), limit)]
    if follow:
        follow_events(
            session,
            latest,
            lambda after: accounts.stream_events(account, after=after),
            _event_row,
            lambda event: of_type(event, chosen),
        )
    else:
        session.show_items(latest, ("TIME", "TYPE", "DATA"), _event_row)


def _event_row(event: Event) -> tuple[object, ...]:
    return event.at, event.type, json.dumps(event.data, ensure_ascii=False)


def _show(session: Session, account: BillingAccount) -> None:
    shown = ("id", "name", "currency", "legal_name", "address", "tax_id", "country", "tax_exempt", "payment_days")
    session.show(account, [*fields(account, *shown, "created_at"), *e_invoice_facts(account.e_invoice)])


def e_invoice_facts(e_invoice: BaseModel) -> list[tuple[str, object]]:
    """What is set for electronic invoices."""
    return [(f"e-invoice {name}", value) for name, value in e_invoice.model_dump(exclude_none=True).items()]


def _show_dunning(session: Session, dunning: Dunning) -> None:
    names = ("remind_after", "refuse_creates_after", "suspend_after", "restriction", "overdue", "overdue_since")
    session.show(dunning, fields(dunning, *names))


def _show_funds(session: Session, funds: Funds) -> None:
    facts = [("prepaid", funds.when_empty or "no"), ("state", funds.state)]
    session.show(funds, [*facts, *fields(funds, *FUNDS), *top_up_facts(funds)])
