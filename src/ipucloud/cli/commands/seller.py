"""`ipucloud seller`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.commands.accounts import Address, Country, EInvoice, LegalName, TaxId, e_invoice_facts
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import fields, key_values
from ipucloud.client import seller
from ipucloud.client.errors import UsageError
from ipucloud.client.models import Seller

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


def _show(session: Session, found: Seller) -> None:
    shown = fields(found, "legal_name", "address", "country", "tax_id", "bank")
    session.show(found, [*shown, *e_invoice_facts(found.e_invoice)])
