"""Lists in pages: `?limit`, `?cursor`, `?order`, and bodies put together without parsing them again.

A cursor names the last item of a page, so a list does not shift under its reader. It is opaque and holds a digest of
the list, its order and its filters: with other ones it is refused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, ClassVar
from uuid import UUID

import orjson
from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.db.documents import Order, Place
from ipucloud.db.reader import Row
from ipucloud.kernel.errors import INVALID_CURSOR, Problem

USUAL = 50
MOST = 1000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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

    def fingerprint(self, path: str) -> bytes:
        """What a cursor of this list is good for: the path, and every parameter but the page's."""
        filters = self.model_dump(mode="json", exclude={"limit", "cursor"})
        text = orjson.dumps([path, filters], option=orjson.OPT_SORT_KEYS)
        return hashlib.blake2b(text, digest_size=6).digest()


class Listed(Paged):
    """The query of a list by age."""

    order: Annotated[Order, Field(description="newest first, or oldest first")] = Order.NEWEST_FIRST

    def behind(self, request: Request) -> Place | None:
        """The place the page starts behind. Raises `Problem` invalid_cursor."""
        position = open_cursor(self, request)
        if position is None:
            return None
        instant, _, number = position.partition(" ")
        try:
            return Place(_EPOCH + timedelta(microseconds=int(instant)), UUID(hex=number))
        except (ValueError, OverflowError):
            raise _invalid() from None


def page(query: Listed, request: Request, row: Row) -> Response:
    """The answer for a row (items, next_created_at, next_id) of a list statement."""
    position = None
    if row["next_id"] is not None:
        position = f"{(row['next_created_at'] - _EPOCH) // timedelta(microseconds=1)} {row['next_id'].hex}"
    return page_at(query, request, row["items"], position)


def page_at(query: Paged, request: Request, items: str, position: str | None) -> Response:
    """The answer: the page's JSON array as it came, and a cursor for `position`, the last item's place."""
    following = b"null" if position is None else b'"%s"' % seal_cursor(query, request, position)
    return Response(b'{"items":%s,"next_cursor":%s}' % (items.encode(), following), media_type=JSON)


def seal_cursor(query: Paged, request: Request, position: str) -> bytes:
    return base64.urlsafe_b64encode(query.fingerprint(request.scope["path"]) + position.encode("ascii")).rstrip(b"=")


def open_cursor(query: Paged, request: Request) -> str | None:
    """The position in the cursor sent, None without one. Raises `Problem` invalid_cursor."""
    if query.cursor is None:
        return None
    expected = query.fingerprint(request.scope["path"])
    try:
        raw = base64.b64decode(query.cursor + "=" * (-len(query.cursor) % 4), altchars=b"-_", validate=True)
        fingerprint, position = raw[: len(expected)], raw[len(expected) :].decode("ascii")
    except (binascii.Error, ValueError):
        raise _invalid() from None
    if fingerprint != expected:
        raise _invalid()
    return position


def prefixed(request: Request, prefix: str) -> dict[str, str]:
    """The query parameters that start with `prefix`, without it."""
    return {name[len(prefix) :]: value for name, value in request.query_params.items() if name.startswith(prefix)}


def _invalid() -> Problem:
    return Problem(INVALID_CURSOR, "Start from the first page: a cursor is good only for the list that gave it.")


def only_page(documents: Sequence[str]) -> Response:
    """A list of JSON documents that is never longer than one page."""
    return Response(b'{"items":[%s],"next_cursor":null}' % ",".join(documents).encode(), media_type=JSON)
