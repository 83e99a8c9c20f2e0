"""`ipucloud tax`."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated

import typer

from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import decimal
from ipucloud.client import tax_rates
from ipucloud.client.call import Call
from ipucloud.client.models import Page, TaxRate

app = typer.Typer(no_args_is_help=True)


@customer_command(app, "list")
def list_rates(session: Session) -> None:
    """List all tax rates by country. Needs a platform token."""
    _list(session, tax_rates.list())


@customer_command(app, "create", 'LU 0.17 --from 2027-01-01 --source "tax office, letter of May"')
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
