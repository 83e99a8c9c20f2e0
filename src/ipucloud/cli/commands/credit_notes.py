"""`ipucloud credit-notes`."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

from ipucloud.cli.commands.accounts import Account
from ipucloud.cli.output import writable, write
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import decimal, fields
from ipucloud.client import accounts, invoices
from ipucloud.client.models import Invoice

app = typer.Typer(no_args_is_help=True)


@customer_command(app, "list", "research")
def list_notes(session: Session, account: Account) -> None:
    """List an account's credit notes, newest first. For payers and operators."""
    session.show_items(
        [each for each in session.client.items(accounts.invoices(account)) if each.kind == "credit_note"],
        ("NUMBER", "INVOICE", "MONTH", "ISSUED", "TOTAL"),
        lambda each: (each.number, each.invoice, each.month, f"{each.issued_at:%Y-%m-%d}", each.total),
    )


@customer_command(app, "show", "CN-2026-000001", "CN-2026-000001 --pdf note.pdf")
def show(
    session: Session,
    number: Annotated[str, typer.Argument(help="Number of the credit note.")],
    pdf: Annotated[Path | None, typer.Option(callback=writable, help="Write the document to this file as PDF.")] = None,
) -> None:
    """Show a credit note. For payers and operators; `ipucloud billing invoice` shows a project's."""
    if pdf is None:
        _show(session, session.run(invoices.get(number, platform=True)))
        return
    write(pdf, session.run(invoices.pdf(number, platform=True)))
    session.done("written", pdf)


@customer_command(app, "create", 'INV-2026-000001 --net 25.00 --reason "a rack lost power on 12 April"')
def create(
    session: Session,
    invoice: Annotated[str, typer.Argument(help="Number of the invoice.")],
    *,
    reason: Annotated[str, typer.Option(help="Printed on the credit note.")],
    net: Annotated[
        Decimal | None,
        typer.Option(
            parser=decimal, metavar="AMOUNT", help="Amount without tax; default: all that is not credited yet."
        ),
    ] = None,
) -> None:
    """Credit an invoice, or a part of it. Needs a platform token."""
    _show(
        session, session.run(invoices.create_credit_note(invoice, reason=reason, net=None if net is None else str(net)))
    )


def _show(session: Session, note: Invoice) -> None:
    names = ("number", "invoice", "reason", "issued_on", "net", "tax", "total", "to_wallet")
    session.show(note, fields(note, *names))
