"""The sweep takes away what a late request of a cluster that is gone has built, and touches nothing else."""

from __future__ import annotations

import psycopg
import pytest

from ipucloud.operations.ending import preempt
from ipucloud.site.ports import Site
from ipucloud.site.vipu_ports import Allocation, PartitionRequest
from ipucloud.wire.site import NetworkSpec, ServerSpec
from ipucloud.worker.sweep import sweep_leftovers
from tests.support.waiting import until
from tests.support.world import CALL_SECONDS, IMAGE, SiteWorld

pytestmark = pytest.mark.anyio

SITE = {"machines": 16}

REGION = "luxembourg-2"
UNKNOWN = f"{'0' * 26}-1"
"""A name of our form that no cluster ever had."""
EVERYTHING = {"network", "allocation", "partition", "server"}


@pytest.fixture
async def there(world: SiteWorld) -> Site:
    """The region's site, as a worker reaches it."""
    return await world.site_client()


async def build(world: SiteWorld, there: Site, name: str) -> None:
    """Everything that a create builds, on the first machine and host."""
    region = world.site.region(REGION)
    machine, host = region.pods[0].machines[0].name, region.hosts[0].name
    await there.networks.put(name, NetworkSpec(region=REGION, machines=[machine], hosts=[host]))
    await there.machines.power_on(machine, name)
    await there.vipu.create_allocation(Allocation(name, region.pods[0].cluster_id or "", frozenset({machine})))
    await there.vipu.create_partition(PartitionRequest(name, name, size=4, gcds=1, reconfigurable=True))
    server = ServerSpec(name=f"{name}-p0", image=IMAGE, ssh_authorized_keys=[], environment={}, network=name)
    await there.hosts.put_server(host, server)


def on_a_host(world: SiteWorld) -> NetworkSpec:
    return NetworkSpec(region=REGION, machines=[], hosts=[world.site.region(REGION).hosts[0].name])


async def sweep(world: SiteWorld, *, times: int = 2, **changes: int) -> None:
    """As many sweeps as it takes to believe what they find."""
    for _ in range(times):
        await sweep_leftovers(world.database, world.sites, call_timeout=CALL_SECONDS, **changes)


async def reasons_left(world: SiteWorld) -> dict[str, str | None]:
    """Why the last sweep left what it found, by rule."""
    return {row.rule: row.left_because for row in await world.rows("SELECT rule, left_because FROM site_findings")}


async def stands(there: Site, name: str) -> set[str]:
    """What the site has of this name."""
    objects = {
        "network": await there.networks.get(name) is not None,
        "allocation": await there.vipu.allocation(name) is not None,
        "partition": name in [partition.id for partition in await there.vipu.all_partitions()],
        "server": any(
            host.server is not None and host.server.network == name for host in await there.hosts.list(REGION)
        ),
    }
    return {what for what, there in objects.items() if there}


async def deleted(world: SiteWorld) -> str:
    """The name of a cluster that is gone."""
    async with world.worker():
        cluster = await world.build()
        await world.succeeded(await world.delete(cluster))
    return await world.external_name(cluster)


async def test_what_a_cluster_left_that_is_gone_is_taken_away(world: SiteWorld, there: Site) -> None:
    name = await deleted(world)
    await build(world, there, name)
    assert await stands(there, name) == EVERYTHING
    await sweep(world, times=1)
    assert await stands(there, name) == EVERYTHING
    await sweep(world, times=1)
    assert await stands(there, name) == set()
    assert set(await world.column("SELECT state FROM repairs WHERE region IS NOT NULL")) == {"running"}
    await sweep(world, times=1)
    assert await reasons_left(world) == {}
    assert await world.column("SELECT state FROM repairs WHERE requested_by = 'sweep'") == ["succeeded"] * 3
    assert await world.value("SELECT count(*) FROM events WHERE type = 'audit.repaired'") == 3


HINDRANCES = {
    "the limit": ("SELECT 1", "0 repairs were begun in the region within the hour: an operator must check it."),
    "a freeze": (
        "INSERT INTO freezes (id, reason, created_by, expires_at) VALUES (gen_random_uuid(), 'wrong answers',"
        " gen_random_uuid(), app_now() + interval '1 hour')",
        "The operator has frozen removals.",
    ),
    "halted automation": (
        "INSERT INTO observations (region, source, halted_since) VALUES ('luxembourg-2', 'site', app_now())",
        "Automatic actions are halted in the region.",
    ),
}


@pytest.mark.parametrize("what", HINDRANCES)
async def test_what_keeps_a_sweep_from_removing_is_recorded(world: SiteWorld, there: Site, what: str) -> None:
    statement, why = HINDRANCES[what]
    name = await deleted(world)
    await there.networks.put(name, on_a_host(world))
    await world.execute(statement)
    await sweep(world, **({"limit": 0} if what == "the limit" else {}))
    assert await reasons_left(world) == {"network_belongs_to_a_cluster": why}
    assert await stands(there, name) == {"network"}
    await world.execute("UPDATE freezes SET ended_at = app_now(), ended_by = id, end_reason = 'done'")
    await world.execute("UPDATE observations SET halted_since = NULL")
    await sweep(world, times=1)
    assert await stands(there, name) == set()


LAST_REPAIR = "SELECT operation_id FROM repairs WHERE requested_by = 'sweep' ORDER BY started_at DESC LIMIT 1"


async def test_what_a_site_lost_is_made_again(world: SiteWorld, there: Site) -> None:
    """Beside an operation on a partition, and again after a while when that was in vain."""
    async with world.worker(observation_interval=3600.0):
        cluster = await world.build()
        name = await world.external_name(cluster)
    await world.reset_partition(cluster, name)
    await there.networks.delete(name)
    await sweep(world)
    repair = await world.value(LAST_REPAIR)
    await sweep(world, times=1)
    assert await reasons_left(world) == {"cluster_in_use_has_its_network": "A worker repairs it."}
    async with world.database.begin() as connection:
        await preempt(connection, project_id=world.project.id, operation_id=repair, reason="it failed")
    await sweep(world, times=1)
    [why] = (await reasons_left(world)).values()
    assert str(why).startswith("It was repaired once and is found again; next attempt at ")
    assert "network" not in await stands(there, name)
    with psycopg.connect(world.scratch.superuser_url) as connection:
        connection.execute("UPDATE repairs SET started_at = started_at - interval '2 minutes'")
    await sweep(world, times=1)
    async with world.worker(observation_interval=3600.0):
        await world.succeeded(await world.value(LAST_REPAIR))
        assert await stands(there, name) == EVERYTHING
        await sweep(world, times=1)
        assert await reasons_left(world) == {}


async def test_the_server_of_a_suspended_cluster_is_switched_off_once_its_host_is_repaired(world: SiteWorld) -> None:
    async with world.worker(observation_interval=3600.0):
        cluster = await world.build()
        host = await world.value("SELECT h.name FROM hosts h JOIN allocations a ON a.host_id = h.id LIMIT 1")
        world.http.post(f"/v1/hosts/{host}:fail").raise_for_status()
        await world.succeeded(await world.suspend(cluster))
        world.http.post(f"/v1/hosts/{host}:repair").raise_for_status()
        await until(lambda: _is(world, host, "running"), "the repaired host has started its server")
        await sweep(world)
        await until(lambda: _is(world, host, "off"), "the server is off")
        await sweep(world, times=1)
        assert await reasons_left(world) == {}
        await world.succeeded(await world.resume(cluster))
        await sweep(world)
        assert await _is(world, host, "running")


async def _is(world: SiteWorld, host: str, state: str) -> bool:
    return bool(world.http.get(f"/v1/hosts/{host}").json()["state"] == state)


async def test_what_a_cluster_holds_is_never_touched(world: SiteWorld, there: Site) -> None:
    async with world.worker():
        name = await world.external_name(await world.build())
        await sweep(world)
        assert await stands(there, name) == EVERYTHING


async def test_what_is_being_built_is_never_touched(world: SiteWorld, there: Site) -> None:
    await world.create(flavor="m2000-pod4")
    name = await world.value("SELECT external_name FROM clusters")
    await build(world, there, name)
    await sweep(world)
    assert await stands(there, name) == EVERYTHING


@pytest.mark.parametrize("name", [UNKNOWN, "operators-own"])
async def test_what_no_record_knows_is_left_to_a_person(world: SiteWorld, there: Site, name: str) -> None:
    """A database that was restored from a backup does not know clusters that customers use."""
    await there.networks.put(name, on_a_host(world))
    await sweep(world)
    assert await stands(there, name) == {"network"}
    await there.networks.delete(name)


async def test_a_site_that_refuses_is_asked_again_by_the_next_sweep(world: SiteWorld, there: Site) -> None:
    name = await deleted(world)
    await build(world, there, name)
    world.fault(call="admin.RemoveAllocation", action="status", grpc_status="UNAVAILABLE")
    await sweep(world)
    assert await stands(there, name) == {"allocation"}
    world.clear_faults()
    await sweep(world)
    assert await stands(there, name) == set()
