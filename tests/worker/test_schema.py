"""A worker touches nothing of a database whose schema is not its own, says what to do, and begins by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from ipucloud.config import Settings
from ipucloud.db import migrate
from ipucloud.db.schema_check import BASELINE, FORMER_HEAD, NEWER, OLDER, head
from ipucloud.kernel.clock import SystemClock
from ipucloud.reconcile.outcomes import Done, Outcome
from ipucloud.reconcile.reconciler import Periodic, PeriodicTasks, WorkItem
from ipucloud.reconcile.watch import DatabaseWatch
from tests.support.control_plane import WORKER, process, stop
from tests.support.plain import NOBODY
from tests.support.ports import free_ports
from tests.support.postgres import Database as Scratch
from tests.support.waiting import PATIENCE, eventually, until
from tests.worker.engines import Bench, Scripted

pytestmark = pytest.mark.anyio

SET_BACK = "UPDATE alembic_version SET version_num = %s"
EMPTIED = """
DROP SCHEMA public CASCADE;
CREATE SCHEMA public AUTHORIZATION ipucloud_owner;
GRANT USAGE ON SCHEMA public TO PUBLIC
"""
WAITING = """
INSERT INTO work (kind, key, project_id, run_at)
VALUES ('cluster', gen_random_uuid()::text, gen_random_uuid(), app_now()),
       ('webhook.dispatch', 'events', '00000000-0000-0000-0000-000000000000', app_now()),
       ('periodic', 'keep_books', '00000000-0000-0000-0000-000000000000', app_now())
"""
TOUCHED = "SELECT count(*) FROM work WHERE fence > 0 OR attempt > 0 OR parked_at IS NOT NULL"
PARKED = "SELECT count(*) FROM work WHERE parked_at IS NOT NULL"
OPEN = "SELECT count(*) FROM work WHERE fence = 0"
HANDED_BACK = "lease_owner IS NULL AND last_error IS NOT NULL"


@dataclass
class WorkerProcess:
    """A worker as a process, and what its operator sees of it."""

    internal: str
    log: Path
    database: Scratch

    def readiness(self) -> tuple[int, str]:
        """Status and sentence of `/readyz`; (0, "") while nobody answers."""
        try:
            answer = httpx.get(f"{self.internal}/readyz", timeout=5, trust_env=False, verify=NOBODY)
        except httpx.HTTPError:
            return 0, ""
        return answer.status_code, answer.json()["status"]

    def shown(self, metric: str) -> str:
        answer = httpx.get(f"{self.internal}/metrics", timeout=PATIENCE, trust_env=False, verify=NOBODY)
        return next(line.split()[1] for line in answer.text.splitlines() if line.startswith(f"{metric} "))

    def logged(self, event: str) -> int:
        return sum(f'"event":"{event}"' in line.replace(" ", "") for line in self.log.read_text().splitlines())

    def value(self, statement: str) -> Any:
        with psycopg.connect(self.database.superuser_url) as connection:
            row = connection.execute(statement.encode()).fetchone()
            assert row is not None
            return row[0]


def set_back(database: Scratch) -> None:
    """To the last revision from before the baseline, which `ipucloud migrate` upgrades."""
    migrate.downgrade(database.owner_url, BASELINE)  # the same schema
    with psycopg.connect(database.owner_url) as connection:
        connection.execute(SET_BACK, [FORMER_HEAD])


@pytest.fixture
def old(database: Scratch) -> Scratch:
    """A database that an older version migrated, with work in it."""
    set_back(database)
    with psycopg.connect(database.app_url) as connection:
        connection.execute(WAITING)
    return database


@pytest.fixture
def worker(database: Scratch, tmp_path: Path) -> Iterator[WorkerProcess]:
    [port] = free_ports(1)
    settings = Settings(
        database_url=SecretStr(database.app_url), site_url="http://127.0.0.1:1", worker_internal_port=port
    )
    log = tmp_path / "worker.log"
    with process(WORKER, settings, log) as started:
        yield WorkerProcess(f"http://127.0.0.1:{port}", log, database)
        assert stop(started) == 0


def test_a_worker_waits_for_the_schema_and_begins_by_itself(old: Scratch, worker: WorkerProcess) -> None:
    eventually(lambda: worker.readiness() == (503, OLDER), "the worker says what to do")
    assert worker.shown("schema_unusable") == "1.0"
    assert worker.value(TOUCHED) == 0
    migrate.upgrade(old.owner_url)
    eventually(lambda: worker.readiness() == (200, "ready"), "the worker is ready")
    eventually(lambda: worker.value(OPEN) == 0, "the work is done, that of periodic tasks and webhooks too")
    assert worker.value(PARKED) == 0
    assert worker.shown("schema_unusable") == "0.0"
    assert (worker.logged("schema_unusable"), worker.logged("schema_usable")) == (1, 1)


def test_a_worker_stops_when_the_schema_is_taken_back_and_goes_on_with_the_next_one(worker: WorkerProcess) -> None:
    eventually(lambda: worker.readiness() == (200, "ready"), "the worker is ready")
    set_back(worker.database)
    eventually(lambda: worker.readiness() == (503, OLDER), "the worker says what to do")
    eventually(lambda: worker.value("SELECT count(*) FROM work WHERE lease_owner IS NOT NULL") == 0, "it let go")
    assert worker.value(PARKED) == 0
    # Down to nothing: there is no work table, and nobody's restart makes the periodic tasks' items again.
    with psycopg.connect(worker.database.superuser_url) as connection:
        connection.execute(EMPTIED)
    migrate.upgrade(worker.database.owner_url)
    eventually(lambda: worker.readiness() == (200, "ready"), "the worker is ready again")
    eventually(
        lambda: worker.value("SELECT count(*) FROM work WHERE kind = 'periodic' AND fence > 0") > 0, "it works again"
    )
    assert worker.value(PARKED) == 0


async def test_a_missing_column_is_not_the_items_failure(bench: Bench) -> None:
    """The database has the revision, and yet not what it needs; the other work goes on."""

    async def act(item: WorkItem) -> Outcome:
        if item.key == "needs it":
            await bench.execute("SELECT dropped_by_hand FROM clusters")
        return Done()

    reconciler = Scripted(act)
    async with bench.engine(reconciler, watch=DatabaseWatch(bench.database, SystemClock())):
        for _ in range(8):
            await bench.wake("needs it")
            await until(lambda: bench.holds("needs it", HANDED_BACK), "the item was handed back")
            await bench.execute("UPDATE work SET last_error = NULL WHERE key = 'needs it'")
        await bench.wake("does not")
        await until(lambda: bench.applied("does not"), "the other item was served")
    row = await bench.row("needs it")
    assert (row.attempt, row.parked_at) == (0, None)
    assert row.run_at is not None


async def test_a_periodic_task_that_misses_a_column_has_the_schema_checked(bench: Bench, database: Scratch) -> None:
    async def run(_: object) -> None:
        await bench.execute("SELECT of_tomorrow FROM clusters")

    watch = DatabaseWatch(bench.database, SystemClock())
    await watch.check()
    assert watch.fault is None
    tasks = PeriodicTasks(bench.database, [Periodic("keep", interval=600.0, run=run)])
    with psycopg.connect(database.owner_url, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'of tomorrow'")
    async with bench.engine(tasks, watch=watch):
        await bench.execute(
            "INSERT INTO work (kind, key, project_id, run_at) VALUES ('periodic', 'keep', gen_random_uuid(), app_now())"
        )
        await until(lambda: _has(watch, NEWER), "a newer schema that dropped a column is not one to work with")
    await watch.check()
    assert watch.fault == NEWER
    with psycopg.connect(database.owner_url, autocommit=True) as connection:
        connection.execute(SET_BACK, [head()])
    await watch.check()
    assert watch.fault is None


async def test_a_newer_schema_is_fine(bench: Bench, database: Scratch) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'of tomorrow'")
    watch = DatabaseWatch(bench.database, SystemClock())
    await watch.check()
    async with bench.engine(Scripted(), watch=watch):
        await bench.wake("a")
        await until(lambda: bench.applied("a"), "served")


async def _has(watch: DatabaseWatch, fault: str) -> bool:
    return watch.fault == fault
