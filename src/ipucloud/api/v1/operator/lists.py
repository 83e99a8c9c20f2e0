"""Answers for operators that PostgreSQL writes: pages that are ordered by a text key, and single documents."""

from __future__ import annotations

from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import Response

from ipucloud.admin.pages import KeyedPage
from ipucloud.api.etag import JSON
from ipucloud.api.paging import open_cursor, page_at
from ipucloud.api.reads import reading_platform
from ipucloud.contract.lists import Paged
from ipucloud.db.rows import Query
from ipucloud.kernel.errors import not_found


async def keyed_list(request: Request, statement: Query[KeyedPage], query: Paged, **more: object) -> Response:
    """A page of a list; the query's filters and `more` are the statement's parameters.

    Raises `Problem` 401, 403 or invalid_cursor.
    """
    filters = {name: getattr(query, name) for name in type(query).model_fields.keys() - Paged.model_fields.keys()}
    position = {"after": unquote(open_cursor(query, request) or ""), "limit": query.limit}
    async with reading_platform(request) as connection:
        page = await statement.one(connection, filters | position | more)
    return page_at(query, request, page.items, None if page.next_key is None else quote(page.next_key))


async def one_document(request: Request, statement: Query[str], **parameters: object) -> Response:
    """The document of a statement. Raises `Problem` 401, 403 or not_found."""
    async with reading_platform(request) as connection:
        document = await statement.one_or_none(connection, parameters)
    if document is None:
        raise not_found()
    return Response(document, media_type=JSON)
