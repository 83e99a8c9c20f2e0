"""A controller that comes back with the state of an earlier time: what it lost is made again, what it regained goes."""

from __future__ import annotations

from functools import partial

import pytest

from ipucloud.worker.sweep import sweep_leftovers
from tests.support.breakable import open_emptied_world
from tests.support.vipu import VipuDriver
from tests.support.waiting import PATIENCE, until
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

SITE = {"machines": 16}
WORLD = partial(open_emptied_world, partitions_quiet_interval=0.1, observation_interval=0.1)


async def test_an_older_state_of_the_controller_is_made_the_present_one(world: SiteWorld) -> None:
    """One cluster was deleted since, one was made since, and one has lost a partition that it got since."""
    state = world.site.data / "vipu-luxembourg-2.json"
    async with world.worker(), world.worker():
        gone, kept = await world.build("gone"), await world.build("kept", "m2000-pod16")
        await world.succeeded(await world.remove_partition(kept, await world.external_name(kept)))
        names = {name: await world.external_name(each) for name, each in (("gone", gone), ("kept", kept))}
        older = state.read_bytes()
        await world.succeeded(await world.create_partition(kept, "training", 8))
        await world.succeeded(await world.delete(gone))
        names["new"] = await world.external_name(await world.build("new"))

        world.site.kill()
        state.write_bytes(older)
        world.site.start()

        lost = "SELECT state = 'missing' FROM partitions WHERE name = 'training'"
        await until(lambda: world.value(lost), "the partition is missing")
        reported = await world.column("SELECT subject_id FROM events WHERE type = 'partition.missing'")
        assert await world.value("SELECT id FROM partitions WHERE name = 'training'") in reported

        async def right() -> bool:
            await sweep_leftovers(world.database, world.sites, call_timeout=PATIENCE)
            allocations = await (await world.site_client()).vipu.list_allocations("")
            return {each.id for each in allocations} == {names["kept"], names["new"]}

        await until(right, "the controller has the allocations of the clusters that exist")
        assert VipuDriver(world.site.channel()).partitions(names["kept"]) == {}
