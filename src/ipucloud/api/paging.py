"""Pagination: `?limit`, `?cursor`, `?order`, and page bodies assembled from JSON without parsing it.

A cursor names the last item of a page, so inserted items do not shift pages. It is opaque and has a digest of the list,
its order and its filters: with others it is refused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import orjson
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.reads import read, reading_account
from ipucloud.contract.lists import Listed, NamedListed, NamedOrder, Order, Paged
from ipucloud.db.documents import BY_NAME, DocumentPage, NamedPage, NamedPlace, Place, list_parameters
from ipucloud.db.rows import Query
from ipucloud.kernel.errors import INVALID_CURSOR, Problem

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def behind(query: Listed, request: Request) -> Place | None:
    """The position after which the page starts. Raises `Problem` invalid_cursor."""
    position = open_cursor(query, request)
    return None if position is None else _place(position)


def _place(position: str) -> Place:
    instant, _, number = position.partition(" ")
    try:
        return Place(_EPOCH + timedelta(microseconds=int(instant)), UUID(hex=number))
    except (ValueError, OverflowError):
        raise _invalid() from None


def named_behind(query: NamedListed, request: Request) -> Place | NamedPlace | None:
    """As `behind`, in a list that may be ordered by name. Raises `Problem` invalid_cursor."""
    position = open_cursor(query, request)
    if position is None:
        return None
    if query.order not in BY_NAME:
        return _place(position)
    name, _, number = position.partition(" ")
    try:
        return NamedPlace(bytes.fromhex(name).decode(), UUID(hex=number))
    except ValueError:
        raise _invalid() from None


async def list_of(
    request: Request, project: str, statements: Mapping[Order, Query[DocumentPage]], query: Listed, **more: object
) -> Response:
    """A page of a project's list; `more` are statement parameters that are not in the query.

    Raises `Problem` invalid_cursor, and what `reads.read` raises.
    """
    parameters = list_parameters(query, behind(query, request))
    return page(query, request, await read(request, statements[query.order], project, **parameters, **more))


async def named_list_of(
    request: Request,
    project: str,
    statements: Mapping[NamedOrder, Query[NamedPage]],
    query: NamedListed,
    **more: object,
) -> Response:
    """As `list_of`, for a list that may be ordered by name."""
    parameters = list_parameters(query, named_behind(query, request))
    return named_page(query, request, await read(request, statements[query.order], project, **parameters, **more))


async def list_of_account(
    request: Request, account: UUID, statements: Mapping[Order, Query[DocumentPage]], query: Listed, **more: object
) -> Response:
    """As `list_of`, for a list of a billing account. Raises what `reads.reading_account` raises."""
    parameters = {"account_id": account, **list_parameters(query, behind(query, request)), **more}
    async with reading_account(request, account) as connection:
        return page(query, request, await statements[query.order].one(connection, parameters))


def page(query: Listed, request: Request, documents: DocumentPage) -> Response:
    """The response for a page that a list statement found."""
    return page_at(query, request, documents.items, _by_age(documents))


def named_page(query: NamedListed, request: Request, documents: NamedPage) -> Response:
    """The same in a list that may be ordered by name."""
    position = _by_age(documents)
    if query.order in BY_NAME and documents.next_name is not None and documents.next_id is not None:
        position = f"{documents.next_name.encode().hex()} {documents.next_id.hex}"
    return page_at(query, request, documents.items, position)


def _by_age(documents: DocumentPage | NamedPage) -> str | None:
    if documents.next_created_at is None or documents.next_id is None:
        return None
    return f"{(documents.next_created_at - _EPOCH) // timedelta(microseconds=1)} {documents.next_id.hex}"


def page_at(query: Paged, request: Request, items: str, position: str | None) -> Response:
    """The response: the page's JSON array and a cursor for `position`, the last item's position."""
    following = b"null" if position is None else b'"%s"' % seal_cursor(query, request, position)
    return Response(b'{"items":%s,"next_cursor":%s}' % (items.encode(), following), media_type=JSON)


def seal_cursor(query: Paged, request: Request, position: str) -> bytes:
    return base64.urlsafe_b64encode(_fingerprint(query, request) + position.encode("ascii")).rstrip(b"=")


def open_cursor(query: Paged, request: Request) -> str | None:
    """The position in the cursor sent, None without one. Raises `Problem` invalid_cursor."""
    if query.cursor is None:
        return None
    expected = _fingerprint(query, request)
    try:
        raw = base64.b64decode(query.cursor + "=" * (-len(query.cursor) % 4), altchars=b"-_", validate=True)
        fingerprint, position = raw[: len(expected)], raw[len(expected) :].decode("ascii")
    except (binascii.Error, ValueError):
        raise _invalid() from None
    if fingerprint != expected or "\x00" in position:
        raise _invalid()
    return position


def _fingerprint(query: Paged, request: Request) -> bytes:
    """The scope of a cursor: the path and every parameter except those of pagination."""
    filters = query.model_dump(mode="json", exclude={"limit", "cursor"})
    text = orjson.dumps([request.scope["path"], filters], option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(text, digest_size=6).digest()


def prefixed(request: Request, prefix: str) -> dict[str, str]:
    """The query parameters that start with `prefix`, without it."""
    return {name[len(prefix) :]: value for name, value in request.query_params.items() if name.startswith(prefix)}


def _invalid() -> Problem:
    return Problem(INVALID_CURSOR, "Start from the first page: a cursor is valid only for the list that returned it.")


def only_page(documents: Sequence[str]) -> Response:
    """The response for a list that always fits on one page."""
    return Response(b'{"items":[%s],"next_cursor":null}' % ",".join(documents).encode(), media_type=JSON)
