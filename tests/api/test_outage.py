"""A database that goes away: 503 that says when to come back, and then everything goes on by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.engine import Database
from ipucloud.db.outages import RETRY_AFTER
from ipucloud.kernel.errors import UNAVAILABLE, Problem
from tests.api.support import UNLIMITED, Api, cluster_json, key, problem, running
from tests.support.postgres import Database as Scratch
from tests.support.world import World

pytestmark = pytest.mark.anyio


class Line:
    """A wire to PostgreSQL that a test cuts and mends."""

    def __init__(self, target: Path, socket: Path) -> None:
        self._target = target
        self._socket = socket
        self._calls: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def repair(self) -> None:
        self._server = await asyncio.start_unix_server(self._answer, self._socket)

    async def cut(self) -> None:
        """Nobody gets through, and everybody on the line is thrown out."""
        if self._server is not None:
            self._server.close()
            self._socket.unlink(missing_ok=True)
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        call = asyncio.create_task(self._carry(reader, writer))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        call.add_done_callback(lambda _: writer.transport.abort())  # also when it was cancelled before it began

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(self._target)
        try:
            with suppress(OSError):
                await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        finally:
            far_writer.transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.close()


@asynccontextmanager
async def on_a_line(world: World, database: Scratch, folder: Path) -> AsyncIterator[tuple[Api, Line]]:
    """The application behind a line to its database."""
    query = parse_qs(urlsplit(database.app_url).query)
    name = f".s.PGSQL.{query.get('port', ['5432'])[0]}"
    line = Line(Path(query["host"][0]) / name, folder / name)
    await line.repair()
    url = database.app_url.replace(query["host"][0], str(folder))
    settings = UNLIMITED | {"database_pool_timeout": 30.0}
    try:
        async with running(world, url, settings=settings) as api:
            yield api, line
    finally:
        await line.cut()


def unavailable(answer: httpx.Response) -> None:
    assert problem(answer, 503, "unavailable")["retryable"]
    assert int(answer.headers["retry-after"]) >= 1


async def test_an_outage_is_answered_and_survived(world: World, database: Scratch, tmp_path: Path) -> None:
    async with on_a_line(world, database, tmp_path) as (api, line):
        assert (await api.owner.get(f"{api.base}/clusters")).status_code == 200
        await line.cut()
        for path in ("clusters", "operations", "quotas", "usage"):
            unavailable(await api.owner.get(f"{api.base}/{path}"))
        unavailable(await api.owner.post(f"{api.base}/clusters", json=cluster_json()))
        unavailable(await api.owner.get("/readyz"))
        assert (await api.owner.get("/livez")).status_code == 200
        assert await world.column("SELECT count(*) FROM clusters") == [0]
        await line.repair()
        assert (await api.owner.get(f"{api.base}/clusters")).status_code == 200
        assert (await api.owner.get(f"{api.base}/quotas")).status_code == 200
        assert (await api.owner.post(f"{api.base}/clusters", json=cluster_json())).status_code == 202


async def test_a_restart_between_two_reads_is_not_noticed(world: World, database: Scratch, tmp_path: Path) -> None:
    async with on_a_line(world, database, tmp_path) as (api, line):
        await asyncio.gather(*(api.owner.get(f"{api.base}/clusters") for _ in range(20)))
        await line.cut()
        await line.repair()
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
