"""While removals are frozen nothing is removed or switched off; requests are accepted, and say what they wait for."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from ipucloud.clusters.operations.force_delete import force_delete
from ipucloud.kernel.ids import new_id
from ipucloud.operations.freezes import Freeze, end_freeze, freeze
from ipucloud.operations.store import Accepted
from ipucloud.policies.leftovers import clean_leftovers
from tests.support.waiting import until
from tests.support.world import SiteWorld, open_site_world

pytestmark = pytest.mark.anyio

WORLD = open_site_world

FAR = datetime(2126, 1, 1, tzinfo=UTC)
OPERATOR = new_id()


async def start(world: SiteWorld, region: str | None = None) -> UUID:
    async with world.database.begin() as connection:
        return await freeze(connection, Freeze(region, "the site shows another rack", FAR, OPERATOR))


async def end(world: SiteWorld, freeze_id: UUID) -> None:
    async with world.database.begin() as connection:
        assert await end_freeze(connection, freeze_id, reason="it is right again", ended_by=OPERATOR)


async def force(world: SiteWorld, cluster: UUID) -> Accepted:
    async with world.database.begin() as connection:
        actor = world.project.actor
        return await force_delete(connection, actor, cluster, reason="its rack is gone", settings=world.settings)


async def fail_host(world: SiteWorld) -> str:
    """That of the only server."""
    host: str = await world.value("SELECT h.name FROM hosts h JOIN allocations a ON a.host_id = h.id LIMIT 1")
    world.http.post(f"/v1/hosts/{host}:fail").raise_for_status()
    return host


async def wiped(world: SiteWorld) -> None:
    """Return once nothing of the cluster is left on its host."""

    async def cleaned() -> bool:
        await clean_leftovers(world.database, world.sites, world.settings)
        return not await world.value("SELECT count(*) FROM health_reports WHERE cleared_at IS NULL")

    await until(cleaned, "the host is wiped")
    await world.assert_nothing_left()


async def test_a_delete_waits_for_the_end_of_a_freeze_and_costs_nothing(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        there = world.http.get("/v1/networks").json()["networks"]
        frozen = await start(world, "luxembourg-2")
        deleted = await world.delete(cluster)
        blocked = """
        SELECT starts_with(blocked_by, 'The operator has frozen removals in luxembourg-2 until 2126-01-01')
          FROM clusters WHERE id = :id
        """
        await until(lambda: world.value(blocked, id=cluster), "it says what it waits for")
        assert await world.value("SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL") == 0
        assert (await world.operation(deleted.operation_id))["blocked_by"].startswith("The operator has frozen")
        assert world.http.get("/v1/networks").json()["networks"] == there
        assert [host["state"] for host in world.http.get("/v1/hosts").json()["hosts"] if host["server"]] == ["running"]
        await world.build("next")
        await end(world, frozen)
        await world.succeeded(deleted)
        await world.delete_all()
    await world.assert_nothing_left()


async def test_isolated_hardware_is_not_touched_during_a_freeze(world: SiteWorld) -> None:
    async with world.worker(isolation_after=0.05):
        cluster = await world.build()
        host = await fail_host(world)
        await world.succeeded(await world.delete(cluster))
    world.http.post(f"/v1/hosts/{host}:repair").raise_for_status()
    frozen = await start(world)
    not_clean = "SELECT id, last_seen_at FROM health_reports WHERE code = 'not_clean' AND cleared_at IS NULL"
    before = await world.rows(not_clean)
    quiet = "SELECT min(last_seen_at) < app_now() - interval '0.2 seconds' FROM health_reports"
    await until(lambda: world.value(quiet), "no request can take effect any more")
    await clean_leftovers(world.database, world.sites, world.settings)
    assert await world.rows(not_clean) == before != []
    await end(world, frozen)

    await wiped(world)


async def test_a_forced_delete_isolates_dead_hardware_and_removes_the_network(world: SiteWorld) -> None:
    """The usual delete would wait for hours, and another one would exceed the region's limit."""
    async with world.worker(isolation_after=3600.0, isolation_limit=0):
        cluster = await world.build(delete_protection=True)
        host = await fail_host(world)
        await world.execute("UPDATE clusters SET delete_protection = false WHERE id = :id", id=cluster)
        deleted = await world.delete(cluster)
        await world.blocked(cluster)
        assert (await force(world, cluster)).operation_id == deleted.operation_id
        await world.succeeded(deleted)
    assert world.http.get("/v1/networks").json()["networks"] == []
    assert await world.column("SELECT code FROM health_reports WHERE cleared_at IS NULL") == ["not_clean"]
    assert await world.value("SELECT sum(used) FROM quotas") == 0
    world.http.post(f"/v1/hosts/{host}:repair").raise_for_status()

    await wiped(world)
