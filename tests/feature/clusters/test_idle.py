"""Clusters that are suspended when nobody uses them: once, by a fresh observation of every server, never by a guess."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import pytest

from ipucloud.clusters.idle.store import WATCHED, record_uses
from ipucloud.config import Settings
from ipucloud.contract.jobs import JobCreate
from ipucloud.db.engine import Database
from ipucloud.observation.servers import use_of
from ipucloud.policies.idle import suspend_idle
from ipucloud.programs.jobs.store import create as create_job
from ipucloud.programs.jobs.store import stop as stop_job
from ipucloud.wire.site import Host, HostState, ServerSpec
from tests.feature.billing.test_killed import killed_at, using
from tests.support.postgres import Database as Scratch
from tests.support.world import World, open_world
from tests.support.world.clock import start_clock, stop_clock

pytestmark = pytest.mark.anyio

NOW = datetime.fromisoformat("2026-05-05T10:00:00Z")
EVENTS = "SELECT data FROM events WHERE type = 'cluster.idle_suspended' ORDER BY transaction, id"
Shown = tuple[int | None, int | None, float | None]
IDLE: Shown = (0, 0, 36_000.0)


def host(name: str, server: str, shown: Shown, state: HostState = HostState.RUNNING) -> Host:
    """What a site shows: sessions, attached IPUs, and seconds since there were any."""
    spec = ServerSpec(name=server, image="poplar", ssh_authorized_keys=[], environment={}, network="n")
    uses = dict(zip(("sessions", "attached_ipus", "idle_seconds"), shown, strict=True))
    return Host.model_validate({"name": name, "region": "luxembourg-2", "state": state, "server": spec, **uses})


@dataclass
class Watched:
    """A world whose clock is moved, in minutes after NOW; three workers suspend what nobody uses."""

    world: World
    set_clock: Callable[[datetime], None]

    def clock(self, minutes: float) -> None:
        self.set_clock(NOW + timedelta(minutes=minutes))

    async def observe(self, shown: Shown, *, state: HostState = HostState.RUNNING, but: str | None = None) -> None:
        """Every watched server but one shows this."""
        database = self.world.database
        now = await self.world.value("SELECT app_now()")
        async with database.read() as connection:
            watched = await WATCHED.all(connection, {"region": "luxembourg-2"})
        hosts = {each.host: host(each.host, each.name, shown, state) for each in watched if each.name != but}
        async with database.begin() as connection:
            await record_uses(connection, [use_of(each, hosts) for each in watched], read_at=now)

    async def stop(self) -> None:
        await asyncio.gather(*(suspend_idle(self.world.settings, self.world.database) for _ in range(3)))

    async def at(self, minutes: float, shown: Shown = IDLE) -> None:
        """Observe and stop."""
        self.clock(minutes)
        await self.observe(shown)
        await self.stop()


@pytest.fixture
def watched(world: World, set_clock: Callable[[datetime], None]) -> Watched:
    set_clock(NOW)
    return Watched(world, set_clock)


async def test_a_cluster_that_nobody_uses_is_suspended_with_the_proof(watched: Watched) -> None:
    bert = await watched.world.make_active(idle_suspend_minutes=30)
    ernie = await watched.world.make_active("ernie")
    await watched.at(10, (1, 0, 0.0))
    assert (await watched.world.cluster(bert))["idle"] == {"since": None, "observed_at": "2026-05-05T10:10:00.000000Z"}
    await watched.at(20, (0, 4, 0.0))
    await watched.at(50, (0, 0, 29 * 60.0))
    assert (await watched.world.cluster(bert))["idle"]["since"] == "2026-05-05T10:21:00.000000Z"
    assert await watched.world.state(bert) == "active"
    await watched.at(51, (0, 0, 30 * 60.0))
    cluster = await watched.world.cluster(bert)
    assert (cluster["state"], cluster["idle"]) == ("suspending", None)
    assert cluster["state_reason"] == "nobody has used it since 2026-05-05 10:21 UTC; idle_suspend_minutes is 30"
    [event] = await watched.world.column(EVENTS)
    assert event["idle_since"] == "2026-05-05T10:21:00Z"
    [server] = event["poplar_servers"]
    assert (server["sessions"], server["attached_ipus"], server["observed_at"]) == (0, 0, "2026-05-05T10:51:00Z")
    assert await watched.world.state(ernie) == "active"
    await watched.world.finish_suspend(bert)
    await watched.at(200)
    assert await watched.world.column("SELECT kind FROM operations WHERE requested_by IS NULL") == ["cluster.suspend"]


@pytest.mark.parametrize("shown", [(None, 0, 36_000.0), (0, None, 36_000.0), (0, 0, None), (None, None, None)])
async def test_what_a_site_does_not_show_is_not_idle(watched: Watched, shown: Shown) -> None:
    bert = await watched.world.make_active(idle_suspend_minutes=30)
    await watched.at(60, shown)
    assert await watched.world.state(bert) == "active"
    assert (await watched.world.cluster(bert))["idle"]["since"] is None


async def test_a_job_that_has_not_ended_is_use_and_its_end_counts(watched: Watched) -> None:
    bert = await watched.world.make_active(idle_suspend_minutes=30)
    actor = watched.world.project.actor
    async with watched.world.database.begin() as connection:
        job = await create_job(connection, actor, bert, JobCreate(command=["wget", "data"]), None)
    await watched.at(60)
    assert await watched.world.state(bert) == "active"
    async with watched.world.database.begin() as connection:
        await stop_job(connection, actor, bert, str(job.number))
    await watched.at(89)
    assert await watched.world.state(bert) == "active"
    await watched.at(90)
    assert await watched.world.state(bert) == "suspending"


async def test_silence_is_not_idle(watched: Watched) -> None:
    """An observation that is too old proves nothing, nor does a host that does not run, or one that is not shown."""
    bert = await watched.world.make_active(idle_suspend_minutes=30)
    watched.clock(20)
    await watched.observe(IDLE)
    watched.clock(22)
    await watched.stop()
    watched.clock(90)
    await watched.stop()
    await watched.observe(IDLE, state=HostState.BOOTING)
    await watched.stop()
    [name] = await watched.world.column("SELECT name FROM poplar_servers")
    await watched.observe(IDLE, but=name)
    await watched.stop()
    assert await watched.world.state(bert) == "active"
    await watched.at(90)
    assert await watched.world.state(bert) == "suspending"


async def test_every_server_of_a_cluster_counts(database: Scratch) -> None:
    async with open_world(database.app_url, pods=2) as world:
        world.broken_on_purpose.update({"operation_ends_in_time", "operation_makes_progress"})
        watched = Watched(world, partial(stop_clock, database.owner_url))
        watched.clock(0)
        bert = await world.make_active(flavor="m2000-pod128", idle_suspend_minutes=30)
        one, other = await world.column("SELECT name FROM poplar_servers ORDER BY ordinal")
        watched.clock(60)
        for hidden in (one, other):
            await watched.observe(IDLE, but=hidden)
            await watched.stop()
            assert await watched.world.state(bert) == "active"
        await watched.at(61)
        assert await watched.world.state(bert) == "suspending"
        [event] = await world.column(EVENTS)
        assert [each["name"] for each in event["poplar_servers"]] == [one, other]
        start_clock(database.owner_url)


async def test_it_counts_from_the_setting_and_from_the_last_operation(watched: Watched) -> None:
    bert = await watched.world.make_active()
    watched.clock(100)
    await watched.world.update(bert, idle_suspend_minutes=30)
    await watched.at(129)
    assert await watched.world.state(bert) == "active"
    await watched.world.update(bert, tags={"team": "nlp"})
    await watched.at(130)
    assert await watched.world.state(bert) == "suspending"
    await watched.world.finish_suspend(bert)
    watched.clock(200)
    await watched.world.resume(bert)
    watched.clock(210)
    await watched.world.finish_create(bert)
    await watched.at(239)
    assert await watched.world.state(bert) == "active"
    await watched.world.update(bert, idle_suspend_minutes=None)
    await watched.at(300)
    assert await watched.world.state(bert) == "active"
    await watched.world.update(bert, idle_suspend_minutes=5)
    watched.clock(301)
    await watched.world.restart(bert)
    await watched.at(310)
    assert await watched.world.state(bert) == "active"


def test_a_worker_killed_between_two_leaves_the_second_to_the_next(database: Scratch) -> None:
    async def stop(database: Database) -> None:
        await suspend_idle(Settings(), database)

    async def prepare(db: Database) -> None:
        watched = Watched(await World.seeded(db), partial(stop_clock, database.owner_url))
        watched.clock(0)
        for name in ("bert", "ernie"):
            await watched.world.make_active(name, idle_suspend_minutes=30)
        watched.clock(60)
        await watched.observe(IDLE)

    using(database, prepare)
    assert killed_at(database, "idle.suspended", 2, stop)
    using(database, stop)
    assert len(using(database, lambda db: World(db).column(EVENTS))) == 2
    start_clock(database.owner_url)
