"""Lists in pages: what is asked for, and what is answered."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

Item = TypeVar("Item")


class Order(StrEnum):
    """The two orders of a list, as the API's `order` parameter names them."""

    NEWEST_FIRST = "-created_at"
    OLDEST_FIRST = "created_at"


USUAL = 50
MOST = 1000


def _within_bounds(value: object) -> object:
    """Any whole number is taken, and brought into 1…MOST."""
    if isinstance(value, str) and value.removeprefix("-").isdecimal() and value.isascii():
        value = int(value)
    return min(max(value, 1), MOST) if isinstance(value, int) else value


Limit = Annotated[
    int,
    BeforeValidator(_within_bounds),
    WithJsonSchema({"type": "integer", "default": USUAL, "examples": [USUAL]}),
    Field(description=f"items of a page; brought into 1…{MOST}"),
]
Cursor = Annotated[str | None, Field(description="`next_cursor` of the page before; the other parameters unchanged")]


class Paged(BaseModel):
    """The query of every list; a subclass adds its filters. `open_prefix` admits parameters that start with it."""

    open_prefix: ClassVar[str | None] = None

    limit: Limit = USUAL
    cursor: Cursor = None


class Listed(Paged):
    """The query of a list by age."""

    order: Annotated[Order, Field(description="newest first, or oldest first")] = Order.NEWEST_FIRST


class Page(BaseModel, Generic[Item]):
    """A page of a list. `next_cursor` is null on the last one."""

    items: list[Item]
    next_cursor: str | None = Field(description="send it as `cursor` to get the next page")
