"""What all answers share: newer servers may add fields and enum values, and older clients go on reading them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

Item = TypeVar("Item")


class Answer(BaseModel):
    """A JSON object of the API. Fields this version does not know are kept, so that dumping it loses nothing."""

    model_config = ConfigDict(frozen=True, extra="allow")


class Money(Answer):
    """An exact amount in a currency."""

    amount: Decimal
    currency: str

    def __str__(self) -> str:
        return f"{self.amount:f} {self.currency}"


class Page(Answer, Generic[Item]):
    """A part of a list; `next_cursor` leads to the next part, None at the end."""

    items: Sequence[Item]
    next_cursor: str | None = None
