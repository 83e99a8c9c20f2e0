"""Values on the command line, and fields in answers."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Annotated

import typer
from pydantic import BaseModel


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


def fields(value: BaseModel, *names: str) -> list[tuple[str, object]]:
    """These fields as facts to show."""
    return [(name.replace("_", " "), getattr(value, name)) for name in names]
