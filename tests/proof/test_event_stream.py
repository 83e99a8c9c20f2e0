"""Streams of events have every event once, in the log's order, whatever happens to clients and servers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import cast

import pytest

from ipucloud.client import AsyncClient, Retry, events
from ipucloud.client.models import Event
from ipucloud.contract.event_payloads.clusters import ClusterEntered
from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.db.engine import Database
from ipucloud.events.feed import read
from ipucloud.events.log import record
from ipucloud.kernel.ids import new_id
from tests.proof.servers import ApiProcess, api_processes
from tests.support.factories import Project, make_project
from tests.support.postgres import Database as Scratch
from tests.support.selection import Figures
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.anyio

WRITERS, RESTLESS = 8, 3
EVENTS, FULL_EVENTS = 2_000, 20_000
MOST_AT_ONCE = 8
BEGINNING = "0-0"
PATIENT = Retry(attempts=1000, longest=PATIENCE, most=1.0)
"""A client that comes while its server is being started again."""


async def write(db: Database, project: Project, number: int, draw: random.Random) -> None:
    """So many events, in transactions of a few, which commit in another order than they began in."""
    while number > 0:
        size = min(number, draw.randint(1, MOST_AT_ONCE))
        async with db.begin() as connection:
            for _ in range(size):
                data = ClusterEntered(reason=None)
                kind = REGISTRY["cluster.active"]
                await record(connection, kind, project_id=project.id, subject_id=new_id(), data=data)
        number -= size


async def stay(server: ApiProcess, project: Project, ids: list[str], number: int) -> None:
    """Read one stream to the end, through whatever happens to its server."""
    async with AsyncClient(server.url, project.token.secret, project=project.slug) as client:
        async for event in client.stream(events.stream(after=ids[-1] if ids else BEGINNING)):
            ids.append(event.id)
            if len(ids) >= number:
                return


async def come_and_go(
    servers: Sequence[ApiProcess], project: Project, ids: list[str], number: int, draw: random.Random
) -> int:
    """Leave in the middle of what comes, and go on at any server; how often."""
    departures = 0
    while len(ids) < number:
        here = len(ids) + draw.randint(1, number // 10)
        url = draw.choice(servers).url
        async with AsyncClient(url, project.token.secret, project=project.slug, retry=PATIENT) as client:
            call = events.stream(after=ids[-1] if ids else BEGINNING)
            stream = cast("AsyncGenerator[Event]", client.stream(call))
            while len(ids) < min(number, here):
                ids.append((await anext(stream)).id)
            await stream.aclose()
        departures += 1
    return departures


async def test_every_event_comes_once_and_in_order(
    database: Scratch, tmp_path: Path, full: bool, figures: Figures
) -> None:
    number, draw = FULL_EVENTS if full else EVENTS, random.Random(7)  # noqa: S311  # a test's own choices
    db = Database(database.app_url, pool_size=WRITERS)
    async with db.begin() as connection:
        project, other = await make_project(connection), await make_project(connection)
    async with api_processes(database.app_url, tmp_path, 2) as servers, asyncio.timeout(None if full else PATIENCE):
        ids: list[list[str]] = [[] for _ in range(1 + RESTLESS)]
        staying = asyncio.create_task(stay(servers[0], project, ids[0], number))
        going = [asyncio.create_task(come_and_go(servers, project, each, number, draw)) for each in ids[1:]]
        share = number // WRITERS
        writing = asyncio.gather(
            write(db, other, share, draw), *(write(db, project, share, draw) for _ in range(WRITERS))
        )

        async def half() -> bool:
            return len(ids[0]) >= number // 2

        await until(half, "half of the events were read")
        servers[0].kill()
        await servers[0].start()
        await writing
        await staying
        departures = sum(await asyncio.gather(*going))
        async with db.read() as statements:
            log = [str(each.position) for each in await read(statements, project_id=project.id, limit=number + 1)]
        assert len(log) == number
        assert all(each == log for each in ids)
    await db.close()
    figures(events=number, writers=WRITERS, readers=len(ids), reconnects=departures, kills=1)
