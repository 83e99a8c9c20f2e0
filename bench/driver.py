"""The driver alone: psycopg connections that take the product's statements as the product's own reads do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import psycopg

from ipucloud.db.driver import Query

Connection: TypeAlias = psycopg.AsyncConnection[tuple[Any, ...]]


async def connect(url: str, *, autocommit: bool = True, settings: str = "") -> Connection:
    """`settings` of the server's session, as libpq's `options` has them."""
    return await psycopg.AsyncConnection.connect(
        url,
        autocommit=autocommit,
        options=settings,
        prepare_threshold=2,
        cursor_factory=psycopg.AsyncRawCursor,
    )


async def execute(
    connection: Connection, query: Query, parameters: Mapping[str, object]
) -> psycopg.AsyncCursor[tuple[Any, ...]]:
    return await connection.execute(query.text, [parameters[name] for name in query.names])
