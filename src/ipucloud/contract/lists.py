"""Paginated lists: query parameters and responses."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Generic, TypeVar

from pydantic import BeforeValidator, Field, WithJsonSchema

from ipucloud.contract.fields import Shape

Item = TypeVar("Item")


class Order(StrEnum):
    """Values of the `order` parameter."""

    NEWEST_FIRST = "-created_at"
    OLDEST_FIRST = "created_at"


USUAL = 50
MOST = 1000


def _within_bounds(value: object) -> object:
    """Any integer is accepted and clamped to 1…MOST."""
    if isinstance(value, str) and value.removeprefix("-").isdecimal() and value.isascii():
        value = int(value)
    return min(max(value, 1), MOST) if isinstance(value, int) else value


Limit = Annotated[
    int,
    BeforeValidator(_within_bounds),
    WithJsonSchema({"type": "integer", "default": USUAL, "examples": [USUAL]}),
    Field(description=f"Page size, clamped to 1–{MOST}."),
]
Cursor = Annotated[
    str | None, Field(description="`next_cursor` of the previous page. Leave the other parameters unchanged.")
]


class Paged(Shape):
    """Query of every list; subclasses add filters. Parameters that start with `open_prefix` are accepted."""

    open_prefix: ClassVar[str | None] = None

    limit: Limit = USUAL
    cursor: Cursor = None


class Listed(Paged):
    """Query of a list ordered by age."""

    order: Annotated[Order, Field(description="Newest first (`-created_at`) or oldest first (`created_at`).")] = (
        Order.NEWEST_FIRST
    )


class NamedOrder(StrEnum):
    """Values of the `order` parameter of lists whose items have names."""

    NEWEST_FIRST = "-created_at"
    OLDEST_FIRST = "created_at"
    BY_NAME = "name"
    BY_NAME_DESCENDING = "-name"


class NamedListed(Paged):
    """Query of a list ordered by age or by name."""

    order: Annotated[
        NamedOrder,
        Field(
            description="Newest first (`-created_at`), oldest first (`created_at`), or by name, upwards (`name`) or"
            " downwards (`-name`)."
        ),
    ] = NamedOrder.NEWEST_FIRST


class FoundByName(Shape):
    """Filters of a list whose items have names."""

    name: str | None = Field(None, description="Only what has exactly this name.")
    q: str | None = Field(None, description="Only what has this in its name, in upper or lower case.")


class WholeList(Shape):
    """Query of a short list that is returned whole, ordered by age."""

    order: Annotated[Order, Field(description="Oldest first (`created_at`) or newest first (`-created_at`).")] = (
        Order.OLDEST_FIRST
    )


class WholeNamedList(FoundByName):
    """Query of a short list that is returned whole, ordered by age or by name."""

    order: Annotated[
        NamedOrder,
        Field(
            description="Oldest first (`created_at`), newest first (`-created_at`), or by name, upwards (`name`) or"
            " downwards (`-name`)."
        ),
    ] = NamedOrder.OLDEST_FIRST


class Page(Shape, Generic[Item]):
    """A page of a list. `next_cursor` is null on the last one."""

    items: list[Item]
    next_cursor: str | None = Field(description="`cursor` of the next page; null on the last page.")

    @classmethod
    def __pydantic_init_subclass__(cls, **_: object) -> None:
        cls.__doc__ = cls.__doc__ or Page.__doc__
