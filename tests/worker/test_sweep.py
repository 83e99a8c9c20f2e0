"""The sweep takes away what a late request of a cluster that is gone has built, and touches nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from ipucloud.site.connect import SiteClients
from ipucloud.site.ports import Allocation, PartitionRequest, Site, VipuAddress
from ipucloud.wire.site import NetworkSpec, ServerSpec
from ipucloud.worker.sweep import sweep_leftovers
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite, running_site
from tests.support.world import CALL_SECONDS, IMAGE, SiteWorld, open_site_world

pytestmark = pytest.mark.anyio

REGION = "luxembourg-2"
UNKNOWN = f"{'0' * 26}-1"
"""A name of our form that no cluster ever had."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=16) as site:
        yield site


@pytest.fixture
async def world(database: Scratch, running: RunningSite) -> AsyncIterator[SiteWorld]:
    async with open_site_world(database, running) as world:
        yield world


@pytest.fixture
async def clients(running: RunningSite) -> AsyncIterator[SiteClients]:
    clients = SiteClients(running.url, token=running.token, call_timeout=CALL_SECONDS)
    yield clients
    await clients.close()


@pytest.fixture
def site(running: RunningSite, clients: SiteClients) -> Site:
    """The region's site, as a worker reaches it."""
    vipu = running.endpoint(REGION)
    return clients.at(VipuAddress(vipu.host, vipu.user_port, vipu.admin_port), lambda: 5.0)


async def build(site: Site, running: RunningSite, name: str) -> None:
    """Everything that a create builds, on the first machine and host."""
    region = running.region(REGION)
    machine, host = region.pods[0].machines[0].name, region.hosts[0].name
    await site.networks.put(name, NetworkSpec(region=REGION, machines=[machine], hosts=[host]))
    await site.machines.power_on(machine, name)
    await site.vipu.create_allocation(Allocation(name, region.pods[0].cluster_id or "", frozenset({machine})))
    await site.vipu.create_partition(PartitionRequest(name, name, size=4, gcds=1, reconfigurable=True))
    server = ServerSpec(name=f"{name}-p0", image=IMAGE, ssh_authorized_keys=[], environment={}, network=name)
    await site.hosts.put_server(host, server)


async def stands(site: Site, name: str) -> set[str]:
    """What the site has of this name."""
    found = {
        "network": await site.networks.get(name) is not None,
        "allocation": await site.vipu.allocation(name) is not None,
        "partition": name in [partition.id for partition in await site.vipu.all_partitions()],
        "server": any(
            host.server is not None and host.server.network == name for host in await site.hosts.list(REGION)
        ),
    }
    return {what for what, there in found.items() if there}


async def test_what_a_cluster_left_that_is_gone_is_taken_away(
    world: SiteWorld, running: RunningSite, clients: SiteClients, site: Site
) -> None:
    async with world.worker():
        made = await world.create(flavor="m2000-pod4")
        await world.finished(made.operation_id)
        name = await world.value("SELECT external_name FROM clusters")
        await world.finished(await world.delete(made.target_id))
    await build(site, running, name)
    assert await stands(site, name) == {"network", "allocation", "partition", "server"}
    await sweep_leftovers(world.database, clients, call_timeout=CALL_SECONDS)
    assert await stands(site, name) == set()


async def test_what_a_cluster_holds_is_never_touched(world: SiteWorld, clients: SiteClients, site: Site) -> None:
    async with world.worker():
        made = await world.create(flavor="m2000-pod4")
        await world.finished(made.operation_id)
        name = await world.value("SELECT external_name FROM clusters")
        before = await stands(site, name)
        await sweep_leftovers(world.database, clients, call_timeout=CALL_SECONDS)
        assert await stands(site, name) == before == {"network", "allocation", "partition", "server"}
        await world.delete_all()


async def test_what_is_being_built_is_never_touched(
    world: SiteWorld, running: RunningSite, clients: SiteClients, site: Site
) -> None:
    await world.create(flavor="m2000-pod4")
    name = await world.value("SELECT external_name FROM clusters")
    await build(site, running, name)
    await sweep_leftovers(world.database, clients, call_timeout=CALL_SECONDS)
    assert len(await stands(site, name)) == 4
    async with world.worker():
        await world.delete_all()


@pytest.mark.parametrize("name", [UNKNOWN, "operators-own"])
async def test_what_no_record_knows_is_left_to_a_person(
    world: SiteWorld, running: RunningSite, clients: SiteClients, site: Site, name: str
) -> None:
    """A database that was restored from a backup does not know clusters that customers use."""
    host = running.region(REGION).hosts[0].name
    await site.networks.put(name, NetworkSpec(region=REGION, machines=[], hosts=[host]))
    await sweep_leftovers(world.database, clients, call_timeout=CALL_SECONDS)
    assert await stands(site, name) == {"network"}
    await site.networks.delete(name)


async def test_a_site_that_refuses_is_asked_again_by_the_next_sweep(
    world: SiteWorld, running: RunningSite, clients: SiteClients, site: Site
) -> None:
    async with world.worker():
        made = await world.create(flavor="m2000-pod4")
        await world.finished(made.operation_id)
        name = await world.value("SELECT external_name FROM clusters")
        await world.finished(await world.delete(made.target_id))
    await build(site, running, name)
    world.fault(call="admin.RemoveAllocation", action="status", grpc_status="UNAVAILABLE")
    await sweep_leftovers(world.database, clients, call_timeout=CALL_SECONDS)
    assert await stands(site, name) == {"allocation"}
    world.clear_faults()
    await sweep_leftovers(world.database, clients, call_timeout=CALL_SECONDS)
    assert await stands(site, name) == set()
