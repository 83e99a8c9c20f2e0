"""`ipucloud prices`: the price book, for operators. `ipucloud billing prices` shows what a project pays."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import ACCOUNT, REGION, SKU
from ipucloud.cli.output import writable, write
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import moment, past
from ipucloud.cli.values import decimal, fields, per_unit, text_of
from ipucloud.client import accounts, prices
from ipucloud.client.call import without_none
from ipucloud.client.errors import ApiError, UsageError
from ipucloud.client.models import BookedPrice, PriceCorrectionPreview

app = typer.Typer(no_args_is_help=True)

_LARGEST_PAGE = 1000
ID = "0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90"

Price = Annotated[str, typer.Argument(help="Id of the price version, as shown by `prices list`.")]


class State(StrEnum):
    """Whether a version has begun and ended, as the API spells it."""

    PAST = "past"
    CURRENT = "current"
    FUTURE = "future"


class Order(StrEnum):
    """How versions are sorted, as the API spells it."""

    BY_ACCOUNT = "account"
    BY_ACCOUNT_DESCENDING = "-account"
    BY_SKU = "sku"
    BY_SKU_DESCENDING = "-sku"
    OLDEST_FIRST = "valid_from"
    NEWEST_FIRST = "-valid_from"


@customer_command(app, "list", "", "--sku ipu-m2000 --region luxembourg-2", "--list --state current --order sku")
def list_prices(
    session: Session,
    *,
    sku: Annotated[str | None, typer.Option(help="Only those of this SKU.", autocompletion=names(SKU))] = None,
    region: Annotated[str | None, typer.Option(help="Only those in this region.", autocompletion=names(REGION))] = None,
    account: Annotated[
        str | None,
        typer.Option(help="Only contract prices of this account (name or id).", autocompletion=names(ACCOUNT)),
    ] = None,
    currency: Annotated[str | None, typer.Option(help="Only those in this currency, such as EUR.")] = None,
    contract: Annotated[
        bool | None, typer.Option("--contract/--list", help="Only contract prices, or only list prices.")
    ] = None,
    state: Annotated[State | None, typer.Option(help="Only those that ended, are in force, or have not begun.")] = None,
    order: Annotated[
        Order | None, typer.Option(help="List prices first, by SKU, or by start; with `-` the other way round.")
    ] = None,
) -> None:
    """List the versions of the price book. Needs a platform token."""
    session.list(
        prices.versions(
            sku=sku, region=region, currency=currency, account=account, contract=contract, state=state, order=order
        ),
        ("SKU", "REGION", "PRICE", "FROM", "UNTIL", "ACCOUNT", "ID"),
        lambda each: (
            each.sku,
            each.region,
            per_unit(each.unit_price),
            each.valid_from,
            each.valid_to,
            each.account_id or "list price",
            each.id,
        ),
        drop=("ID", "UNTIL", "ACCOUNT"),
    )


@customer_command(app, "show", ID)
def show(session: Session, price: Price) -> None:
    """Show a price version. Needs a platform token."""
    for version in _book(session):
        if version.id == price:
            names = ("id", "sku", "region", "unit_price", "valid_from", "valid_to", "account_id", "source")
            session.show(version, fields(version, *names))
            return
    raise ApiError(404, "not_found", f"The price book has no version {price}.")


@customer_command(
    app,
    "create",
    'ipu-m2000 luxembourg-2 0.0500 --currency EUR --from 2027-01-01 --source "price list of January"',
    'ipu-m2000 luxembourg-2 0.0450 --currency EUR --account research --from 1h --source "contract 2027-04"',
)
def create(
    session: Session,
    sku: Annotated[str, typer.Argument(help="SKU, such as ipu-m2000.", autocompletion=names(SKU))],
    region: Annotated[str, typer.Argument(help="Region.", autocompletion=names(REGION))],
    amount: Annotated[
        Decimal, typer.Argument(parser=decimal, metavar="PRICE", help="Price per minute of the SKU's unit.")
    ],
    *,
    valid_from: Annotated[
        datetime,
        typer.Option("--from", parser=moment, metavar="WHEN", help="Start: from now (1h, 30d), or a date."),
    ],
    valid_to: Annotated[
        datetime | None,
        typer.Option(
            "--until",
            parser=moment,
            metavar="WHEN",
            help="End, when the price that it replaces comes back; default: its end.",
        ),
    ] = None,
    source: Annotated[str, typer.Option(help="Where the price is from.")],
    currency: Annotated[str, typer.Option(help="ISO 4217 code, such as EUR.")],
    account: Annotated[
        str | None,
        typer.Option(
            help="Account of a contract price (name or id); default: a list price.", autocompletion=names(ACCOUNT)
        ),
    ] = None,
) -> None:
    """Add a price version, which replaces the previous one from its start. Needs a platform token."""
    version = without_none(
        account_id=_id_of(session, account),
        sku=sku,
        region=region,
        unit_price={"amount": str(amount), "currency": currency},
        valid_from=valid_from,
        valid_to=valid_to,
        source=source,
    )
    done = session.run(prices.create([version]))
    session.show(done, [("added", done.added), ("restored", done.restored)])


@customer_command(
    app,
    "correct",
    'ipu-m2000 luxembourg-2 0.0500 --currency EUR --from 2026-11-01T10:30:00Z --reason "entered a day late"',
    'ipu-m2000 luxembourg-2 0.0500 --currency EUR --from 2026-10-01 --until 2026-11-01 --reason "sale" --dry-run',
)
def correct(
    session: Session,
    sku: Annotated[str, typer.Argument(help="SKU, such as ipu-m2000.", autocompletion=names(SKU))],
    region: Annotated[str, typer.Argument(help="Region.", autocompletion=names(REGION))],
    amount: Annotated[
        Decimal,
        typer.Argument(parser=decimal, metavar="PRICE", help="What a minute of the SKU's unit should have cost."),
    ],
    *,
    valid_from: Annotated[
        datetime,
        typer.Option("--from", parser=past, metavar="WHEN", help="Start of the period: ago (1h, 30d), or a date."),
    ],
    valid_to: Annotated[
        datetime | None,
        typer.Option("--until", parser=past, metavar="WHEN", help="End, in the past; default: that of the price then."),
    ] = None,
    reason: Annotated[str, typer.Option(help="Why the price was wrong.")],
    currency: Annotated[str, typer.Option(help="ISO 4217 code, such as EUR.")],
    account: Annotated[
        str | None,
        typer.Option(
            help="Account of a contract price (name or id); default: the list price.", autocompletion=names(ACCOUNT)
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
) -> None:
    """Correct a past price and rate what was used again, after showing what changes. Needs a platform token."""
    correction = without_none(
        account_id=_id_of(session, account),
        sku=sku,
        region=region,
        unit_price={"amount": str(amount), "currency": currency},
        valid_from=valid_from,
        valid_to=valid_to,
        reason=reason,
    )
    preview = session.run(prices.preview_correction(correction))
    if dry_run or not session.as_json:
        _show(session, preview)
    if dry_run:
        return
    if not yes:
        session.confirm(f"Change charges by {preview.difference}?", "correct the price")
    done = session.run(prices.correct(correction, preview.preview))
    session.show(done, [("correction", done.id), ("difference", done.difference), ("hours to rate", done.hours_left)])


@customer_command(app, "corrections", "", lists=True)
def corrections(session: Session) -> None:
    """List corrections of past prices. Needs a platform token."""
    session.show_items(
        session.client.items(prices.corrections()),
        ("SKU", "REGION", "PRICE", "FROM", "UNTIL", "DIFFERENCE", "FINISHED", "REASON", "ID"),
        lambda each: (
            each.sku,
            each.region,
            per_unit(each.unit_price),
            each.valid_from,
            each.valid_to,
            each.difference,
            each.finished_at or f"{each.hours_left} hours left",
            each.reason,
            each.id,
        ),
        drop=("ID", "UNTIL", "REASON"),
    )


@customer_command(app, "withdraw", ID)
def withdraw(session: Session, price: Price) -> None:
    """Withdraw a price version that has not begun. Needs a platform token."""
    session.run(prices.delete(price))
    session.done("withdrawn", price)


@customer_command(app, "export", "prices.json")
def export(session: Session, file: Annotated[Path, typer.Argument(callback=writable, help="File to write.")]) -> None:
    """Write the whole price book to a file. Needs a platform token."""
    # A version that a correction took all time from has none to be added for.
    kept = (each for each in _book(session) if each.valid_from != each.valid_to)
    items = [each.model_dump(mode="json", exclude={"id"}) for each in kept]
    write(file, json.dumps({"items": items}, indent=2).encode() + b"\n")
    session.show({"items": items}, [("written", str(file)), ("prices", len(items))])


@customer_command(app, "import", "prices.json")
def import_(
    session: Session,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A file written by `prices export`.")],
) -> None:
    """Add the versions of a file to the price book, all or none. Needs a platform token."""
    try:
        items = json.loads(text_of(file))["items"]
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{file} is not a price book as written by `ipucloud prices export`.") from error
    done = session.run(prices.create(items))
    session.show(done, [("added", done.added), ("already present", len(items) - done.added)])


def _show(session: Session, preview: PriceCorrectionPreview) -> None:
    if session.as_json:
        session.show(preview, [])
        return
    session.show_items(
        preview.effects,
        ("ACCOUNT", "PROJECT", "MONTH", "MINUTES", "BEFORE", "AFTER", "DIFFERENCE", "SETTLED BY"),
        lambda each: (
            each.account,
            each.project,
            each.month,
            each.minutes,
            each.before,
            each.after,
            each.difference,
            each.settled_by.replace("_", " "),
        ),
        drop=("MINUTES", "BEFORE"),
    )


def _id_of(session: Session, account: str | None) -> str | None:
    return None if account is None else session.run(accounts.get(account)).id


def _book(session: Session) -> list[BookedPrice]:
    """All of it, in the fewest requests: most books are one page, which no change can come between."""
    return [*session.client.items(prices.versions(limit=_LARGEST_PAGE))]
