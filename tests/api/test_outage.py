"""A database that goes away: 503 that says when to come back, and then everything goes on by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx
import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.engine import Database
from ipucloud.db.outages import RETRY_AFTER
from ipucloud.kernel.errors import UNAVAILABLE, Problem
from tests.api.support import UNLIMITED, Api, cluster_json, key, problem, running
from tests.support.database_proxy import database_proxy
from tests.support.faultproxy import Proxy
from tests.support.postgres import Database as Scratch
from tests.support.world import World

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def on_a_line(world: World, database: Scratch) -> AsyncIterator[tuple[Api, Proxy]]:
    """The application behind a line to its database."""
    with database_proxy(database.app_url) as (line, url):
        async with running(world, url, settings=UNLIMITED | {"database_pool_timeout": 30.0}) as api:
            yield api, line


def cut(line: Proxy) -> None:
    """Nobody gets through, and everybody on the line is thrown out."""
    line.close_listener()
    line.cut()


def unavailable(answer: httpx.Response) -> None:
    assert problem(answer, 503, "unavailable")["retryable"]
    assert int(answer.headers["retry-after"]) >= 1


async def test_an_outage_is_answered_and_survived(world: World, database: Scratch) -> None:
    async with on_a_line(world, database) as (api, line):
        assert (await api.owner.get(f"{api.base}/clusters")).status_code == 200
        cut(line)
        for path in ("clusters", "operations", "quotas", "usage"):
            unavailable(await api.owner.get(f"{api.base}/{path}"))
        unavailable(await api.owner.post(f"{api.base}/clusters", json=cluster_json()))
        unavailable(await api.owner.get("/readyz"))
        assert (await api.owner.get("/livez")).status_code == 200
        assert await world.column("SELECT count(*) FROM clusters") == [0]
        line.listen()
        assert (await api.owner.get(f"{api.base}/clusters")).status_code == 200
        assert (await api.owner.get(f"{api.base}/quotas")).status_code == 200
        assert (await api.owner.post(f"{api.base}/clusters", json=cluster_json())).status_code == 202


async def test_a_restart_between_two_reads_is_not_noticed(world: World, database: Scratch) -> None:
    async with on_a_line(world, database) as (api, line):
        await asyncio.gather(*(api.owner.get(f"{api.base}/clusters") for _ in range(20)))
        cut(line)
        line.listen()
        answers = await asyncio.gather(*(api.owner.get(f"{api.base}/clusters") for _ in range(20)))
        assert {answer.status_code for answer in answers} == {200}


async def test_an_answer_lost_on_the_way_is_asked_for_again(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit arrived, its confirmation did not: the same key tells what became of it."""
    headers = key()

    async def deaf(database: Database, work: Callable[[AsyncConnection], Awaitable[object]]) -> None:
        async with database.begin() as connection:
            await work(connection)
        raise Problem(UNAVAILABLE, "The database does not answer.", headers=RETRY_AFTER)

    with monkeypatch.context() as patch:
        patch.setattr(Database, "transact", deaf)
        unavailable(await api.owner.post(f"{api.base}/clusters", json=cluster_json(), headers=headers))
    again = await api.owner.post(f"{api.base}/clusters", json=cluster_json(), headers=headers)
    assert (again.status_code, again.headers["idempotent-replayed"]) == (202, "true")
    assert await api.count("clusters") == 1
