"""What the customer of a cluster sees when its hardware fails at the site, and when it works again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from tests.support.machine import Need, needs
from tests.support.waiting import until
from tests.support.world import SiteWorld
from tests.worker.customers import Logins

pytestmark = [pytest.mark.anyio, needs(Need.OPENSSH)]

SITE = {"machines": 4}


@pytest.fixture
async def world(world: SiteWorld) -> AsyncIterator[SiteWorld]:
    """With a worker that observes often."""
    async with world.worker(observation_interval=0.2):
        yield world


async def becomes(world: SiteWorld, cluster_id: UUID, state: str) -> dict[str, Any]:
    """The cluster's JSON once it is in this state."""
    is_so = "SELECT state = :state FROM clusters WHERE id = :id"
    await until(lambda: world.value(is_so, id=cluster_id, state=state), f"the cluster is {state}")
    return await world.cluster(cluster_id)


async def partition_is(world: SiteWorld, cluster_id: UUID, state: str) -> None:
    """Return once the API shows the cluster's own partition in this state."""
    shown = "SELECT count(*) FROM partitions WHERE cluster_id = :id AND state = :state AND removed_at IS NULL"
    await until(lambda: world.value(shown, id=cluster_id, state=state), f"the partition is {state}")


@pytest.mark.acceptance("CAP05-01")
async def test_a_machine_that_fails_degrades_its_cluster_until_it_is_repaired(world: SiteWorld, logins: Logins) -> None:
    cluster_id = await world.build(flavor="m2000-pod16", ssh_keys=["ours"])
    server = logins.to(await world.one("SELECT * FROM poplar_servers"))
    assert "-+- Id:" in await server.output("gc-info -l")
    name = (await world.cluster(cluster_id))["machines"][1]["name"]
    world.http.post(f"/v1/machines/{name}:fail").raise_for_status()
    degraded = await becomes(world, cluster_id, "degraded")
    assert f"Machine {name}: The machine has failed." in degraded["state_reason"]
    assert {(fault["kind"], fault["name"]) for fault in degraded["faults"]} == {("machine", name)}
    assert {each["name"] for each in degraded["machines"] if each["health"] == "failed"} == {name}
    assert degraded["observed_at"] is not None
    await partition_is(world, cluster_id, "error")
    assert (await asyncio.to_thread(server.ssh, "gc-info -l")).returncode != 0
    assert await world.value("SELECT credited FROM usage_intervals WHERE ended_at IS NULL") == 1

    world.http.post(f"/v1/machines/{name}:repair").raise_for_status()
    active = await becomes(world, cluster_id, "active")
    assert (active["state_reason"], active["faults"]) == (None, [])
    assert "-+- Id:" in await server.output("gc-info -l")
    assert await world.value("SELECT credited FROM usage_intervals WHERE ended_at IS NULL") == 0
    events = await world.column("SELECT type FROM events WHERE type IN ('cluster.degraded', 'cluster.recovered')")
    assert (events[0], events[-1], events.count("cluster.recovered")) == ("cluster.degraded", "cluster.recovered", 1)


async def test_a_partition_that_stays_in_error_is_reset_once_its_machine_works(world: SiteWorld) -> None:
    cluster_id = await world.build(flavor="m2000-pod16")
    default = await world.external_name(cluster_id)
    await world.succeeded(await world.remove_partition(cluster_id, default))
    await world.succeeded(await world.create_partition(cluster_id, "training", 16, auto_reset=False))
    name = (await world.cluster(cluster_id))["machines"][1]["name"]
    world.http.post(f"/v1/machines/{name}:fail").raise_for_status()
    await becomes(world, cluster_id, "degraded")
    await partition_is(world, cluster_id, "error")
    world.http.post(f"/v1/machines/{name}:repair").raise_for_status()
    assert (await becomes(world, cluster_id, "active"))["faults"] == []
    # The cluster is not active again before its partition is.
    await partition_is(world, cluster_id, "active")
    changes = await world.column(
        "SELECT type FROM events WHERE type IN ('cluster.recovered', 'partition.active') ORDER BY id"
    )
    assert changes[-2:] == ["partition.active", "cluster.recovered"]
    codes = await world.rows("SELECT DISTINCT code, machine_id FROM health_reports WHERE confirmed_at IS NOT NULL")
    assert {row.code for row in codes} == {"bmc_critical", "partition_error"}
    assert len({row.machine_id for row in codes}) == 1
    resets = "SELECT requested_by FROM operations WHERE kind = 'partition.reset' AND state = 'succeeded'"
    assert await world.column(resets) == [None]
    assert await world.value("SELECT credited FROM usage_intervals WHERE ended_at IS NULL") == 0


async def test_a_server_whose_host_fails_degrades_its_cluster_until_it_is_repaired(world: SiteWorld) -> None:
    cluster_id = await world.build(flavor="m2000-pod16", ssh_keys=["ours"])
    host = await world.value("SELECT h.name FROM hosts h JOIN allocations a ON a.host_id = h.id")
    world.http.post(f"/v1/hosts/{host}:fail").raise_for_status()
    degraded = await becomes(world, cluster_id, "degraded")
    [server] = degraded["poplar_servers"]
    assert f"Poplar server {server['name']}: The Poplar server's host has failed." in degraded["state_reason"]
    assert (server["health"], server["faults"][0]["code"]) == ("failed", "host_failed")
    assert await world.value("SELECT credited FROM usage_intervals WHERE ended_at IS NULL") == 4
    world.http.post(f"/v1/hosts/{host}:repair").raise_for_status()
    assert (await becomes(world, cluster_id, "active"))["faults"] == []
