"""Servers with IPUs of their own, sold by the same cluster API, against the simulated site over its real protocols."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

import pytest

from ipucloud.billing.pricing.book import install_prices
from ipucloud.clusters.operations.create import CREATE
from ipucloud.clusters.operations.kind import lacking
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.inventory.health.codes import Code
from ipucloud.inventory.queries import region_capacity
from ipucloud.inventory.sync import sync
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED
from ipucloud.operations.step import plan_of
from tests.support.factories import set_quota
from tests.support.world import SiteWorld
from tests.worker.customers import refused

pytestmark = pytest.mark.anyio

SERVERS = 2
"""Of each kind."""
SITE = {"machines": 1, "options": ["--servers", str(SERVERS)]}
WITHOUT_VIPU = lacking(AllocatedThrough.HOST_DEVICES, secure=False)


@pytest.fixture
async def world(world: SiteWorld) -> SiteWorld:
    async with world.database.begin() as connection:
        await install_prices(connection, world.catalogue)
        for machine_type in ("c600-server", "dss8440"):
            await set_quota(connection, world.project.id, "lab-1", machine_type, 8)
    return world


async def steps(world: SiteWorld, operation: UUID) -> dict[str, tuple[str, str | None]]:
    """The state and detail of each step."""
    rows = await world.rows(
        "SELECT name, state, detail FROM operation_steps WHERE operation_id = :id ORDER BY ordinal", id=operation
    )
    return {row.name: (row.state, row.detail) for row in rows}


@pytest.mark.parametrize(("flavor", "ipus"), [("c600-1", 1), ("c600-4", 4), ("c600-8", 8), ("dss8440-16", 16)])
async def test_a_server_is_provisioned_billed_and_cleaned(world: SiteWorld, flavor: str, ipus: int) -> None:
    free = await world.free_machines()
    async with world.worker():
        creation = await world.create(flavor=flavor)
        ended = await world.finished(creation.operation_id)
        assert (ended.state, ended.progress, ended.error) == ("succeeded", 100, None)
        by_name = await steps(world, creation.operation_id)
        skipped = {name for name, (state, _) in by_name.items() if state == "skipped"}
        of_vipu = {"create_allocation", "create_vipu_user", "test_cluster", "create_partition"}
        assert skipped == {"power_on_machines"} | of_vipu
        reasons = {step.name: step.skipped for step in plan_of(CREATE.steps, WITHOUT_VIPU)}
        assert all(by_name[name] == ("skipped", reasons[name]) for name in skipped)
        cluster = await world.one("SELECT * FROM clusters WHERE id = :id", id=creation.target_id)
        assert (cluster.state, cluster.machines, cluster.ipus) == ("active", 1, ipus)
        document = await world.cluster(creation.target_id)
        assert [machine["ipus"] for machine in document["machines"]] == [ipus]
        held = await world.one(
            "SELECT (SELECT name FROM machines WHERE id = max(machine_id::text)::uuid) AS machine,"
            " (SELECT name FROM hosts WHERE id = max(host_id::text)::uuid) AS host FROM allocations"
        )
        assert held.machine == held.host
        host = world.site.http().get(f"/v1/hosts/{held.host}").json()
        assert (host["ipus_visible"], host["server"]["ipus"]) == (ipus, ipus)
        interval = await world.one("SELECT * FROM usage_intervals")
        assert (interval.quantity, interval.ended_at) == (1, None)
        assert await world.free_machines() == free - 1
        deletion = await world.delete(creation.target_id)
        await world.succeeded(deletion)
    removed = await steps(world, deletion.operation_id)
    skipped = {name for name, (state, _) in removed.items() if state == "skipped"}
    assert skipped == {"remove_partitions", "remove_vipu_user", "remove_allocation"}
    assert removed["verify_clean"][0] == "succeeded"
    assert world.site.http().get(f"/redfish/v1/Systems/{held.machine}").json()["PowerState"] == "Off"
    assert await world.free_machines() == free


async def test_a_smaller_flavor_takes_a_whole_server_and_a_further_one_is_refused(world: SiteWorld) -> None:
    """Two customers never share a server: each has its own operating system on it."""
    async with world.database.read() as connection:
        flavors = world.catalogue.flavors_in("lab-1")
        before = {
            each.flavor: each.available for each in await region_capacity(connection, region="lab-1", flavors=flavors)
        }
    assert before == {"c600-1": 2, "c600-2": 2, "c600-4": 2, "c600-8": 2, "dss8440-16": 2}
    async with world.worker():
        for number in range(SERVERS):
            await world.build(f"c{number}", "c600-1")
        problem = await refused(world.create("another", "c600-2"))
    assert problem.kind is CAPACITY_EXHAUSTED
    assert "This takes 1 machine (2 IPUs); the region has 0 free." in problem.detail
    assert await world.value("SELECT count(DISTINCT host_id) FROM allocations WHERE host_id IS NOT NULL") == SERVERS


async def test_an_estimate_leaves_out_the_stages_that_do_not_apply(world: SiteWorld) -> None:
    await world.execute("UPDATE site_regions SET typical_seconds = '{}'")
    server, pod = await world.estimate(flavor="c600-4"), await world.estimate(flavor="m2000-pod4")
    assert (server.expected_seconds, pod.expected_seconds) == (585, 900)
    assert server.price_per_minute.amount == Decimal("0.0425")
    assert (server.quota.needed, server.quota.allowed, server.capacity.available) == (1, True, True)


async def test_a_server_whose_host_is_unhealthy_takes_no_cluster(world: SiteWorld) -> None:
    await world.impair(Code.HOST_FAILED, "name = 'lab1-c001'", kind="host")
    await world.impair(Code.MAINTENANCE, "name = 'lab1-c002'", kind="host")
    problem = await refused(world.create(flavor="c600-8"))
    assert (problem.kind, "not all of it can be used" in problem.detail) == (CAPACITY_EXHAUSTED, True)


async def test_a_create_that_fails_is_undone(world: SiteWorld) -> None:
    world.fault(call="hosts.put_server", action="status", status=422)
    async with world.worker():
        creation = await world.create(flavor="c600-2")
        ended = await world.finished(creation.operation_id)
    assert (ended.state, ended.error["code"]) == ("failed", "site_refused")
    by_name = await steps(world, creation.operation_id)
    assert {by_name[name][0] for name in ("remove_partitions", "remove_allocation")} == {"skipped"}
    assert by_name["verify_clean"][0] == "succeeded"
    await world.assert_nothing_left()


async def test_the_site_is_registered_again_without_a_change(world: SiteWorld) -> None:
    before = await world.value("SELECT count(*) FROM hosts WHERE machine_id IS NOT NULL")
    await sync(world.database, world.sites, validated=False)
    assert before == await world.value("SELECT count(*) FROM hosts WHERE machine_id IS NOT NULL") == 2 * SERVERS
    assert await world.value("SELECT count(*) = 0 FROM vipu_controllers WHERE region = 'lab-1'")
