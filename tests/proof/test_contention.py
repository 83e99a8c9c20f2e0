"""Many customers, two API processes, the last sixteen machines: given out exactly, and nobody sees a deadlock."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from tests.api.support import cluster_json, key
from tests.proof.servers import ApiProcess, api_processes
from tests.support.factories import Project, make_project
from tests.support.postgres import Database as Scratch
from tests.support.selection import Figures
from tests.support.settled import SETTLED
from tests.support.world import World, open_world

pytestmark = pytest.mark.anyio

CONTENDERS = 200
MACHINES = 16
PROJECTS = 20
ROUNDS = {"read committed": 50, "serializable": 10}
"""By isolation, with `--full`. It is the constraints that carry it, at each of them."""

TOTALS = """
    SELECT (SELECT count(*) FROM allocations WHERE machine_id IS NOT NULL AND freed_at IS NULL),
           (SELECT count(DISTINCT machine_id) FROM allocations WHERE freed_at IS NULL),
           (SELECT coalesce(sum(used), 0) FROM quotas),
           (SELECT count(*) FROM clusters WHERE deleted_at IS NULL),
           (SELECT count(*) FROM operations WHERE finished_at IS NULL),
           (SELECT deadlocks FROM pg_stat_database WHERE datname = current_database())
"""
CLEAR = (
    "UPDATE operations SET state = 'succeeded', finished_at = app_now() WHERE finished_at IS NULL",
    "UPDATE allocations SET released_at = app_now(), freed_at = app_now() WHERE freed_at IS NULL",
    "UPDATE quotas SET used = 0",
    "UPDATE poplar_servers SET state = 'deleted'",
    "UPDATE clusters SET state = 'deleted', deleted_at = app_now() WHERE deleted_at IS NULL",
    *SETTLED,
)


@pytest.fixture
async def world(database: Scratch) -> AsyncIterator[World]:
    async with open_world(database.app_url, hosts=64, sound=False) as world:
        yield world


@pytest.fixture(params=ROUNDS)
def isolation(request: pytest.FixtureRequest, database: Scratch) -> str:
    """What every transaction has from now on: what the product asks for, or more than it asks for."""
    name: str = request.param
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(f"ALTER DATABASE {database.name} SET default_transaction_isolation = '{name}'".encode())
    return name


async def totals(world: World) -> tuple[int, ...]:
    async with world.database.begin() as connection:
        return tuple((await connection.exec_driver_sql(TOTALS)).one())


@dataclass
class Rush:
    """How often each answer was given, the seconds of the slowest, and how many were asked to come again."""

    answers: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    again: int = 0


async def rush(servers: Sequence[ApiProcess], projects: Sequence[Project]) -> Rush:
    """Everybody asks for one machine at once, and repeats the request when asked to."""
    result = Rush()

    async def ask(number: int) -> None:
        project, client = projects[number % PROJECTS], servers[number % len(servers)].client
        headers = {"Authorization": f"Bearer {project.token.secret}", **key()}
        path, body = f"/v1/projects/{project.slug}/clusters", cluster_json(f"c{number}")
        begun = time.monotonic()
        while (answer := await client.post(path, json=body, headers=headers)).status_code == 503:
            assert answer.json()["code"] == "unavailable"
            result.again += 1
        result.slowest = max(result.slowest, time.monotonic() - begun)
        result.answers[
            "accepted" if answer.status_code == 202 else f"{answer.status_code} {answer.json()['code']}"
        ] += 1

    await asyncio.gather(*(ask(number) for number in range(CONTENDERS)))
    return result


async def test_the_last_machines_go_to_exactly_so_many(
    world: World, database: Scratch, tmp_path: Path, *, isolation: str, full: bool, figures: Figures
) -> None:
    async with world.database.begin() as connection:
        projects = [await make_project(connection) for _ in range(PROJECTS)]
    rounds = ROUNDS[isolation] if full else 1
    slowest, again = 0.0, 0
    async with api_processes(database.app_url, tmp_path, 2) as servers:
        for _ in range(rounds):
            result = await rush(servers, projects)
            assert result.answers == {"accepted": MACHINES, "409 capacity_exhausted": CONTENDERS - MACHINES}
            slowest, again = max(slowest, result.slowest), again + result.again
            *held, deadlocks = await totals(world)
            assert held == [MACHINES] * 5
            for statement in CLEAR:
                await world.execute(statement)
    figures(
        isolation=isolation,
        rounds=rounds,
        requests=rounds * CONTENDERS,
        deadlocks_in_the_database=deadlocks,
        slowest_seconds=round(slowest, 2),
        asked_to_come_again=again,
    )


async def test_quotas_names_and_deletes_in_one_rush(
    world: World, database: Scratch, tmp_path: Path, full: bool, figures: Figures
) -> None:
    """One project with a quota of five; every name wanted twice; and each cluster is deleted as soon as it is there."""
    async with world.database.begin() as connection:
        project = await make_project(connection, quota=5)
    headers = {"Authorization": f"Bearer {project.token.secret}"}
    path = f"/v1/projects/{project.slug}/clusters"
    answers = Counter[str]()

    async def create_and_delete(number: int) -> None:
        client = servers[number % 2].client
        answer = await client.post(path, json=cluster_json(f"c{number // 2}"), headers=headers | key())
        answers[str(answer.status_code) if answer.is_success else answer.json()["code"]] += 1
        if answer.is_success:
            gone = await asyncio.gather(
                *(
                    server.client.delete(f"{path}/{answer.json()['target']['id']}", headers=headers)
                    for server in servers
                )
            )
            assert {each.status_code for each in gone} == {202}
            assert len({each.json()["id"] for each in gone}) == 1

    rounds = 20 if full else 1
    async with api_processes(database.app_url, tmp_path, 2) as servers:
        for _ in range(rounds):
            await asyncio.gather(*(create_and_delete(number) for number in range(100)))
            assert (await totals(world))[:5] == (5, 5, 5, 5, 5)
            for statement in CLEAR:
                await world.execute(statement)
    assert answers["202"] == 5 * rounds
    assert set(answers) == {"202", "quota_exceeded"} | ({"name_taken"} & set(answers))
    figures(rounds=rounds, **answers)
