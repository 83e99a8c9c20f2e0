"""A change that the site notifies of is read at once; without notifications it is read at the usual interval."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

import pytest

from ipucloud.kernel.clock import SystemClock
from ipucloud.observation.notified import Notified
from ipucloud.observation.reconciler import ensure_observation
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite, running_site
from tests.support.waiting import until
from tests.support.world import SiteWorld, open_site_world
from tests.worker.test_observation import REGION, break_machine, live, repair_machine

pytestmark = pytest.mark.anyio

NEVER = 3600.0


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=16, options=["--machines-on"]) as site:
        yield site


@pytest.fixture
async def world(database: Scratch, running: RunningSite) -> AsyncIterator[SiteWorld]:
    async with open_site_world(database, running) as world:
        yield world


@asynccontextmanager
async def notified(world: SiteWorld) -> AsyncIterator[Notified]:
    listener = Notified(world.database, world.sites.events, SystemClock())
    task = asyncio.create_task(listener.run())
    yield listener
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_a_change_that_the_site_notifies_of_is_read_at_once(world: SiteWorld, running: RunningSite) -> None:
    """Also after the stream broke, for which nobody has to do anything."""
    [one, other, *_] = [machine.name for machine in running.region(REGION).pods[0].machines]

    async def failed() -> set[str]:
        return {name for name, code, confirmed in await live(world) if confirmed and code == "bmc_critical"}

    async def one_failed() -> bool:
        return await failed() == {one}

    async def both_failed() -> bool:
        return await failed() == {one, other}

    await ensure_observation(world.database, NEVER)
    async with world.worker(observation_interval=NEVER), notified(world) as listener:
        await asyncio.wait_for(listener.listening.wait(), 60.0)
        break_machine(world, one)
        await until(one_failed, "the failure is read")
        world.fault(call="redfish.events", action="drop_answer")
        repair_machine(world, one)
        break_machine(world, one)

        async def broken() -> bool:
            return not listener.listening.is_set()

        await until(broken, "the stream breaks")
        break_machine(world, other)
        world.clear_faults()
        await until(both_failed, "what happened meanwhile is read with the next stream")
    for each in (one, other):
        repair_machine(world, each)
