"""The bare peer: FastAPI and psycopg, one statement per request; no token, no model, no limit, no error.

Its statements are the product's own reads with the authentication taken out, so that the database does the same.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from fastapi import FastAPI, Response

from bench.driver import Connection, connect, execute
from ipucloud.clusters.queries import GET_CLUSTER, LIST_CLUSTERS
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterList
from ipucloud.contract.lists import NamedOrder
from ipucloud.db import rows
from ipucloud.db.documents import list_parameters
from ipucloud.db.driver import Query, query
from ipucloud.db.rows import Row
from ipucloud.identity.access import AUTHENTICATE

SETTINGS = "-c jit=off -c plan_cache_mode=force_generic_plan"
"""What the product's reads set, for the same plans."""
DATABASE, PROJECT = "BENCH_DATABASE_URL", "BENCH_PROJECT_ID"

_NOBODY = """
principal AS (SELECT 'viewer' AS rights),
project AS (SELECT id AS project_id, slug FROM projects WHERE id = CAST(:project_id AS uuid))
"""


def without_authentication(typed: rows.Query[Row]) -> Query:
    """A statement of the product, as the driver takes it, that believes whoever asks."""
    text = typed.statement.text
    if text.count(AUTHENTICATE) != 1:
        raise ValueError("the statement does not authenticate as it used to")
    return query(sa.text(text.replace(AUTHENTICATE, _NOBODY)))


def app() -> FastAPI:
    """Made from the environment: the database and the project to read."""
    url, project = os.environ[DATABASE], UUID(os.environ[PROJECT])
    idle: asyncio.LifoQueue[Connection] = asyncio.LifoQueue()
    get, find = without_authentication(GET_CLUSTER), without_authentication(LIST_CLUSTERS[NamedOrder.NEWEST_FIRST])

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        for _number in range(Settings().database_pool_size):
            idle.put_nowait(await connect(url, settings=SETTINGS))
        yield
        while not idle.empty():
            await idle.get_nowait().close()

    async def ask(statement: Query, parameters: dict[str, object]) -> tuple[Any, ...]:
        connection = await idle.get()
        try:
            row = await (await execute(connection, statement, parameters)).fetchone()
        finally:
            idle.put_nowait(connection)
        assert row is not None
        return row

    bare = FastAPI(lifespan=lifespan)

    @bare.get("/clusters/{cluster}")
    async def get_cluster(cluster: UUID) -> Response:
        row = await ask(get, {"project_id": project, "cluster_id": cluster})
        return Response(row[2], media_type="application/json")

    @bare.get("/clusters")
    async def list_clusters(limit: int = 50) -> Response:
        row = await ask(find, {"project_id": project, "tags": None, **list_parameters(ClusterList(limit=limit))})
        return Response(row[2], media_type="application/json")

    return bare
