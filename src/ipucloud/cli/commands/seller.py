"""`ipucloud seller` and `tax`: who issues invoices, and the tax rates."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated

import typer

from ipucloud.cli.commands.accounts import Address, Country, EInvoice, LegalName, TaxId, e_invoice_facts
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import decimal, fields, key_values
from ipucloud.client import seller, tax_rates
from ipucloud.client.call import Call
from ipucloud.client.errors import UsageError
from ipucloud.client.models import Page, Seller, TaxRate

app = typer.Typer(no_args_is_help=True)


@customer_command(app, "show")
def show(session: Session) -> None:
    """Show the seller named on invoices. Needs a platform token."""
    _show(session, session.run(seller.get()))


@customer_command(app, "update", '--legal-name "IPU Cloud S.A." --country LU --tax-id LU12345678')
def update(
    session: Session,
    *,
    legal_name: LegalName = None,
    address: Address = None,
    country: Country = None,
    tax_id: TaxId = None,
    bank: Annotated[str | None, typer.Option(help="Bank details, as printed.")] = None,
    e_invoice: EInvoice = None,
) -> None:
    """Change the seller named on invoices; issued invoices never change. Needs a platform token."""
    more = key_values(e_invoice)
    if not more and all(each is None for each in (legal_name, address, country, tax_id, bank)):
        raise UsageError("Give at least one change, such as --legal-name.")
    call = seller.update(
        legal_name=legal_name, address=address, country=country, tax_id=tax_id, bank=bank, e_invoice=more or None
    )
    _show(session, session.run(call))


def _show(session: Session, seller: Seller) -> None:
    shown = fields(seller, "legal_name", "address", "country", "tax_id", "bank")
    session.show(seller, [*shown, *e_invoice_facts(seller.e_invoice)])


tax_app = typer.Typer(no_args_is_help=True)


@customer_command(tax_app, "list")
def list_rates(session: Session) -> None:
    """List all tax rates by country. Needs a platform token."""
    _list(session, tax_rates.list())


@customer_command(tax_app, "create", 'LU 0.17 --from 2027-01-01 --source "tax office, letter of May"')
def create(
    session: Session,
    country: Annotated[str, typer.Argument(help="ISO 3166 code, such as LU.")],
    rate: Annotated[Decimal, typer.Argument(parser=decimal, metavar="RATE", help="Rate as a fraction: 0.17 is 17 %.")],
    *,
    valid_from: Annotated[
        date, typer.Option("--from", parser=date.fromisoformat, metavar="DATE", help="First day, such as 2027-01-01.")
    ],
    source: Annotated[str, typer.Option(help="Where the rate is from.")],
    name: Annotated[str, typer.Option(help="As printed on invoices.")] = "VAT",
    kind: Annotated[str, typer.Option(help="Kind of rate; invoices use standard.")] = "standard",
) -> None:
    """Add a tax rate, which replaces the previous one from its first day. Needs a platform token."""
    _list(session, tax_rates.create(country, str(rate), valid_from=valid_from, source=source, name=name, kind=kind))


def _list(session: Session, call: Call[Page[TaxRate]]) -> None:
    session.list(
        call,
        ("COUNTRY", "KIND", "NAME", "RATE", "FROM", "UNTIL", "SOURCE"),
        lambda each: (each.country, each.kind, each.name, each.rate, each.valid_from, each.valid_to, each.source),
    )
