"""A process under load has as many connections to PostgreSQL as docs/operations/settings.md says."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from ipucloud.config import Settings
from tests.api.support import UNLIMITED, cluster_json
from tests.support.api_process import api_process
from tests.support.control_plane import WORKER, process
from tests.support.factories import Project, make_project
from tests.support.plain import NOBODY
from tests.support.postgres import Database as Scratch
from tests.support.waiting import PATIENCE, eventually
from tests.support.world import World

pytestmark = pytest.mark.anyio

PAGE = (Path(__file__).parents[2] / "docs" / "operations" / "settings.md").read_text()
CROWD = 12
"""Of each kind of request, and of clusters that have work: more than any pool has connections."""
PROJECTS = 3
"""Among which the requests are divided: one project has two connections of a pool at most."""
SHOWN = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = %s"


@dataclass
class Documented:
    """The sentence about connections: those of a worker, and the factor and summand of an API process."""

    pools: int
    besides: int
    worker: int

    @classmethod
    def read(cls) -> Documented:
        api = re.search(r"an API process has up to (\d+) ×\s+`IPUCLOUD_DATABASE_POOL_SIZE` \+ (\d+)", PAGE)
        worker = re.search(r"a worker up to (\d+)", PAGE)
        assert api is not None
        assert worker is not None
        return cls(int(api[1]), int(api[2]), int(worker[1]))


@contextmanager
def locked(url: str, table: str, mode: str) -> Iterator[None]:
    """Nobody else gets past the table meanwhile, so that everybody's connections are all in use."""
    with psycopg.connect(url) as connection:
        connection.execute(f"LOCK TABLE {table} IN {mode} MODE".encode())
        yield
        connection.rollback()


def highest(url: str, application: str, expected: int) -> int:
    """The most connections of the application that were seen until there were `expected` of them."""
    peak = 0
    with psycopg.connect(url, autocommit=True) as connection:

        def reached() -> bool:
            nonlocal peak
            row = connection.execute(SHOWN, [application]).fetchone()
            assert row is not None
            peak = max(peak, int(row[0]))
            return peak >= expected

        eventually(reached, f"{expected} connections of {application}")
        for _ in range(50):
            reached()
    return peak


async def test_a_worker_has_as_many_as_documented(world: World, database: Scratch, tmp_path: Path) -> None:
    for number in range(CROWD):
        await world.create(f"c{number}")
    settings = Settings(database_url=SecretStr(database.app_url), site_url="http://127.0.0.1:1", worker_internal_port=0)
    expected = Documented.read().worker
    # Steps are loaded, find no site, and wait for the lock to write that down.
    with locked(database.superuser_url, "clusters", "EXCLUSIVE"), process(WORKER, settings, tmp_path / "worker.log"):
        assert highest(database.superuser_url, "ipucloud worker", expected) == expected


async def test_an_api_process_has_as_many_as_documented(world: World, database: Scratch) -> None:
    settings = UNLIMITED | {"internal_port": 0, "database_pool_size": 4, "database_pool_timeout": 60.0}
    documented = Documented.read()
    expected = documented.pools * 4 + documented.besides
    async with world.database.begin() as connection:
        projects = [await make_project(connection) for _ in range(PROJECTS)]
    enough = threading.Event()

    def client_of(project: Project) -> httpx.Client:
        return httpx.Client(
            base_url=f"http://127.0.0.1:{server.port}/v1/projects/{project.slug}",
            headers={"Authorization": f"Bearer {project.token.secret}"},
            timeout=PATIENCE,
            trust_env=False,
            verify=NOBODY,
        )

    def keep_asking(project: Project, method: str, path: str) -> None:
        with client_of(project) as client:
            while not enough.is_set():
                client.request(method, path, json=cluster_json() if method == "POST" else None)

    with api_process(settings, url=database.app_url) as server, ExitStack() as ending:
        # Something that wakes a worker opens the connection that tells it.
        with client_of(projects[0]) as client:
            assert client.post("/clusters", json=cluster_json()).status_code == 202
        with locked(database.superuser_url, "clusters", "ACCESS EXCLUSIVE"):
            requests = [("GET", "/clusters"), ("GET", "/overview"), ("POST", "/clusters")] * (CROWD // PROJECTS)
            crowd = [
                threading.Thread(target=keep_asking, args=(project, *request))
                for project in projects
                for request in requests
            ]
            for caller in crowd:
                caller.start()
                ending.callback(caller.join)
            ending.callback(enough.set)
            assert highest(database.superuser_url, "ipucloud api", expected) == expected
