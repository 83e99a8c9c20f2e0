"""Registering a site's hardware while customers come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.engine import Database
from ipucloud.inventory.sync import sync
from ipucloud.site.ports import Budget, Site, VipuAddress
from ipucloud.wire.site import Inventory, SiteHost, SiteMachine, SitePod, SiteRegion, VipuEndpoint
from tests.support.cloud import Cloud
from tests.support.factories import LUXEMBOURG, World, make_project, seed_prices
from tests.support.factories import Region as Hardware

pytestmark = pytest.mark.anyio


class Listing:
    """A site that lists two machines and two hosts; `rack` moves the addresses of the first of each."""

    def __init__(self, rack: int = 1) -> None:
        self._rack = rack

    async def inventory(self) -> Inventory:
        def address(number: int) -> str:
            return f"10.{self._rack if number == 0 else 1}.0.{number}"

        machines = [
            SiteMachine(name=f"m{n}", slot=n, rnic=address(n), bmc=f"bmc-{address(n)}", gateway=f"gw-{address(n)}")
            for n in range(2)
        ]
        pod = SitePod(
            name="pod",
            machine_type=LUXEMBOURG[1],
            cluster_id="vipu",
            gw_group="g0",
            position=0,
            topology="torus",
            gateway_topology="looped",
            machines=machines,
        )
        hosts = [SiteHost(name=f"h{n}", address=address(n)) for n in range(2)]
        vipu = VipuEndpoint(host="vipu.test", user_port=1, admin_port=2)
        return Inventory(regions=[SiteRegion(region=LUXEMBOURG[0], vipu=vipu, pods=[pod], hosts=hosts)])

    def at(self, vipu: VipuAddress, budget: Budget) -> Site:
        raise AssertionError("nothing but the inventory is asked for")


class Held(Database):
    """Holds its transactions open before they commit."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.written, self.go_on = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        async with super().begin() as connection:
            yield connection
            self.written.set()
            await self.go_on.wait()


async def test_a_create_beside_a_sync_finds_its_hosts(db: Database) -> None:
    await sync(db, Listing())
    async with db.begin() as connection:
        await seed_prices(connection)
        nothing = Hardware(*LUXEMBOURG, (), ())
        cloud = Cloud(db, World(await make_project(connection), nothing, nothing))
    held = Held(db.url)
    syncing = asyncio.create_task(sync(held, Listing()))
    try:
        await held.written.wait()
        assert (await cloud.create()).cluster_id
    finally:
        held.go_on.set()
        await syncing
        await held.close()


async def test_what_moved_is_written_and_what_is_known_keeps_its_identity(db: Database, cloud: Cloud) -> None:
    await sync(db, Listing(rack=1))
    before = await cloud.column("SELECT id FROM machines WHERE name IN ('m0', 'm1') ORDER BY name")
    assert (await sync(db, Listing(rack=7))).machines == 2
    assert await cloud.column("SELECT id FROM machines WHERE name IN ('m0', 'm1') ORDER BY name") == before
    rows = "SELECT rnic || ' ' || bmc || ' ' || gateway FROM machines WHERE name IN ('m0', 'm1') ORDER BY name"
    assert await cloud.column(rows) == ["10.7.0.0 bmc-10.7.0.0 gw-10.7.0.0", "10.1.0.1 bmc-10.1.0.1 gw-10.1.0.1"]
    assert await cloud.column("SELECT address FROM hosts WHERE name IN ('h0', 'h1') ORDER BY name") == [
        "10.7.0.0",
        "10.1.0.1",
    ]
