"""The database ends at once, again and again, under load; and a standby takes its place when its chief is killed."""

from __future__ import annotations

import asyncio
import shutil
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest

from ipucloud.db.engine import Database
from ipucloud.kernel.errors import Problem
from tests.api.support import key
from tests.proof.customers import FULL_CROWD, Crowd, Register, more_writes
from tests.proof.servers import ApiProcess, api_processes
from tests.support.control_plane import WORKER, process, stop
from tests.support.database_proxy import through_proxy
from tests.support.factories import Project, make_project
from tests.support.faultproxy import proxy
from tests.support.instances import Instance, migrated_instance, scratch
from tests.support.run import fast_storage
from tests.support.selection import Figures
from tests.support.site import RunningSite
from tests.support.waiting import PATIENCE
from tests.support.world import SiteWorld, open_site_world

pytestmark = pytest.mark.anyio

SITE = {"machines": 64}
BETWEEN = 8
"""Writes acknowledged between two restarts."""

RESTARTS_IN_PEACE = 3
AT_ONCE = 8
"""Requests sent together, so that every connection of a pool is in use."""


@asynccontextmanager
async def busy(world: SiteWorld, url: str, folder: Path, *, full: bool) -> AsyncIterator[Register]:
    """An API process, two workers and customers at work; everybody finishes when the block is left."""
    async with AsyncExitStack() as stack:
        (api,) = await stack.enter_async_context(api_processes(url, folder, 1, database_pool_timeout=3.0))
        settings = world.settings.model_copy(
            update={"database_url": api.settings.database_url, "worker_internal_port": 0, "log_level": "warning"}
        )
        workers = [stack.enter_context(process(WORKER, settings, folder / f"worker-{n}.log")) for n in range(2)]
        register, crowd = Register(), FULL_CROWD if full else Crowd(6, 3)
        async with crowd.at_work(world.project, register, lambda: [api.client]):
            yield register
        assert [stop(each) for each in workers] == [0, 0]
        assert await api.stop() == 0


async def assert_nothing_lost(world: SiteWorld, register: Register) -> None:
    assert register.faults == []
    names = await answered(lambda: world.value("SELECT array_agg(name) FROM tokens WHERE role = 'viewer'"))
    assert register.acknowledged <= set(names), "an acknowledged write was lost"
    assert len(names) == len(set(names)), "a write took effect twice"
    assert await world.value("SELECT count(*) FROM clusters WHERE state <> 'deleted'") == 0
    assert await world.value("SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL") == 0
    assert await world.value("SELECT count(*) FROM work WHERE parked_at IS NOT NULL") == 0
    intervals = await world.value("SELECT count(*) FROM usage_intervals")
    assert intervals == await world.value("SELECT count(*) FROM clusters") == register.clusters
    await world.assert_nothing_left()


async def answered(ask: Callable[[], Awaitable[list[str]]]) -> list[str]:
    """Past the connections that a restart left broken in the pool."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(Problem):
                return await ask()


async def test_immediate_restarts_under_load(
    instance_root: Path, site: RunningSite, tmp_path: Path, full: bool, figures: Figures
) -> None:
    restarts, back = 20 if full else 2, 0.0
    with migrated_instance(instance_root) as instance:
        async with open_site_world(scratch(instance.url()), site) as world:
            async with busy(world, instance.url(), tmp_path, full=full) as register:
                await more_writes(register, BETWEEN)
                for _ in range(restarts):
                    await asyncio.to_thread(instance.restart)
                    back = max(back, await more_writes(register, BETWEEN))
            await assert_nothing_lost(world, register)
    figures(restarts=restarts, slowest_first_write_after=round(back, 2), **register.figures())


async def test_a_restart_in_a_quiet_moment_is_not_noticed(instance_root: Path, tmp_path: Path) -> None:
    """Every connection that the API processes hold is dead: the first request of each is answered all the same."""
    with migrated_instance(instance_root) as instance:
        project = await a_project(instance.url())
        payer = f"/v1/projects/{project.slug}/billing/account"  # a read of several statements
        path, headers = f"/v1/projects/{project.slug}/tokens", {"Authorization": f"Bearer {project.token.secret}"}

        async def write(api: ApiProcess, name: str) -> httpx.Response:
            return await api.client.post(path, headers=headers | key(), json={"name": name, "role": "viewer"})

        async with api_processes(instance.url(), tmp_path, 2) as servers:
            for turn in range(RESTARTS_IN_PEACE):
                answers = await asyncio.gather(
                    *(write(api, f"{turn}-{api.url}-{number}") for api in servers for number in range(AT_ONCE))
                )
                assert {answer.status_code for answer in answers} == {201}
                assert [(await api.client.get(payer, headers=headers)).status_code for api in servers] == [200, 200]
                await asyncio.to_thread(instance.restart)
                assert [(await api.client.get(payer, headers=headers)).status_code for api in servers] == [200, 200]
                assert [(await write(api, f"{turn}-{api.url}")).status_code for api in servers] == [201, 201]
                assert [(await api.client.get(path, headers=headers)).status_code for api in servers] == [200, 200]


async def a_project(url: str) -> Project:
    database = Database(url)
    async with database.begin() as connection:
        project = await make_project(connection)
    await database.close()
    return project


async def test_failover_to_a_synchronous_standby(
    instance_root: Path, site: RunningSite, tmp_path: Path, full: bool, figures: Figures
) -> None:
    """SIGKILL for the primary's chief, promotion of the standby, and a new standby for the next round."""
    rounds, back = 5 if full else 1, 0.0
    storage = fast_storage()
    with migrated_instance(instance_root) as first, proxy(first.socket) as line:
        url = through_proxy(line, first.url())
        primary = first
        try:
            async with open_site_world(scratch(url), site) as world:
                async with busy(world, url, tmp_path, full=full) as register:
                    for number in range(rounds):
                        standby = await asyncio.to_thread(follow, primary, storage / f"{instance_root.name}-{number}")
                        await more_writes(register, BETWEEN)
                        await asyncio.to_thread(primary.end, signal.SIGKILL)
                        line.refuse = True
                        line.cut()
                        await asyncio.to_thread(standby.execute, "SELECT pg_promote(true, 60)")
                        standby.execute("ALTER SYSTEM RESET synchronous_standby_names")
                        standby.execute("SELECT pg_reload_conf()")
                        line.upstream, line.refuse, primary = standby.socket, False, standby
                        back = max(back, await more_writes(register, BETWEEN))
                await assert_nothing_lost(world, register)
        finally:
            primary.end()
            for folder in storage.glob(f"{instance_root.name}-*"):
                shutil.rmtree(folder, ignore_errors=True)
    figures(failovers=rounds, slowest_first_write_after=round(back, 2), **register.figures())


def follow(primary: Instance, root: Path) -> Instance:
    """A running standby without which `primary` confirms no commit."""
    standby = primary.copy_to(root)
    standby.start()
    primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
    primary.execute("SELECT pg_reload_conf()")
    for _ in range(1000):
        if primary.execute("SELECT sync_state FROM pg_stat_replication") == "sync":
            return standby
    raise AssertionError("the standby does not follow")
