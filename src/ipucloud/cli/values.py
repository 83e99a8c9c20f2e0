"""Values on the command line, and fields in answers."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel

from ipucloud.client.clusters import NewClusterVolume
from ipucloud.client.errors import UsageError
from ipucloud.client.models import Money, RequestedBy


class Order(StrEnum):
    """How a list whose items have names is sorted, as the API spells it."""

    NEWEST_FIRST = "-created_at"
    OLDEST_FIRST = "created_at"
    BY_NAME = "name"
    BY_NAME_DESCENDING = "-name"


Sorted = Annotated[Order, typer.Option("--order", help="Sort by age or by name; with `-` downwards.")]


Named = Annotated[str | None, typer.Option("--name", help="Only what has exactly this name.")]
Containing = Annotated[str | None, typer.Option("--query", "-q", help="Only what has this in its name.")]


class UnitPrice(Money):
    """A price per unit, which has more decimal places than its currency and is shown with all of them."""

    def __str__(self) -> str:
        return f"{self.amount:f} {self.currency}"


def per_unit(price: Money | None) -> UnitPrice | None:
    """The same amount, as a price per unit."""
    return None if price is None else UnitPrice(amount=price.amount, currency=price.currency)


def requester(by: RequestedBy | None) -> str | None:
    """Who asked, in words; None of a service that does not tell."""
    if by is None:
        return None
    return (by.name or "") + ("" if by.kind == "user" else f" ({by.kind})")


def decimal(text: str) -> Decimal:
    """An exact number. Raises typer.BadParameter."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise typer.BadParameter(f"{text} is not an amount; write it like 500.00.")
    return number


Amount = Annotated[Decimal, typer.Argument(parser=decimal, metavar="AMOUNT", help="Exact amount, such as 500.00.")]


def volumes_of(options: Iterable[str] | None) -> list[NewClusterVolume]:
    """What options like `--volume VOLUME:SERVER` say. Raises UsageError."""
    volumes = []
    for option in options or ():
        volume, colon, server = option.partition(":")
        if not volume or (colon and not (server.isascii() and server.isdigit())):
            raise UsageError(f"Write {option or 'it'} as VOLUME, or as VOLUME:SERVER with the server's number, from 0.")
        volumes.append(NewClusterVolume(volume, int(server or 0)))
    return volumes


def text_of(file: Path) -> str:
    """The text of a file, with line ends as on Unix. Raises UsageError."""
    try:
        content = file.read_bytes()
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        how = "compressed; unpack it, for example by gunzip" if content.startswith(b"\x1f\x8b") else "not text in UTF-8"
        raise UsageError(f"{file} is {how}.") from error


def key_values(pairs: Iterable[str] | None) -> dict[str, str]:
    """What options like `--tag KEY=VALUE` say. Raises UsageError."""
    values = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"Write {pair or 'it'} as KEY=VALUE.")
        values[key] = value
    return values


def fields(value: BaseModel, *names: str) -> list[tuple[str, object]]:
    """These fields as facts to show."""
    shown = ((name, getattr(value, name)) for name in names)
    return [
        (name.replace("_", " "), per_unit(each) if name in {"price_per_minute", "unit_price"} else each)
        for name, each in shown
    ]
