"""A cluster in use gets more or fewer machines, and keeps its servers."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

import pytest

from tests.support.breakable import open_breakable_world
from tests.support.postgres import Database as Scratch
from tests.support.site import SECURE, running_site
from tests.support.waiting import until
from tests.support.world import SiteWorld, open_site_world

pytestmark = pytest.mark.anyio

SITE = {"machines": 8, "options": [*SECURE, "--servers", "3"]}
WORLD = partial(open_breakable_world, partitions_quiet_interval=0.5, isolation_after=0.05)

POD4, POD8, POD16 = "m2000-pod4", "m2000-pod8", "m2000-pod16"


async def machines(world: SiteWorld, cluster: UUID) -> list[str]:
    return await world.column(
        "SELECT m.name FROM machines m JOIN allocations a ON a.machine_id = m.id"
        " WHERE a.cluster_id = :cluster AND a.freed_at IS NULL ORDER BY a.ordinal",
        cluster=cluster,
    )


async def server(world: SiteWorld, cluster: UUID) -> Any:
    return await world.one(
        "SELECT name, state, host_key, ssh_port FROM poplar_servers WHERE cluster_id = :cluster", cluster=cluster
    )


async def used(world: SiteWorld) -> int:
    return int(await world.value("SELECT coalesce(sum(used), 0) FROM quotas"))


async def intervals(world: SiteWorld, cluster: UUID) -> list[tuple[int, bool]]:
    """Machines of each, and whether it is open. Each has the flavor of its number of machines."""
    rows = await world.rows(
        "SELECT quantity, flavor, ended_at IS NULL AS open FROM usage_intervals"
        " WHERE resource_id = :cluster ORDER BY started_at",
        cluster=cluster,
    )
    assert [row.flavor for row in rows] == [f"m2000-pod{4 * row.quantity}" for row in rows]
    return [(row.quantity, row.open) for row in rows]


async def test_a_cluster_grows_where_it_is_and_shrinks_again(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build(flavor=POD4)
        before = await server(world, cluster)
        [first] = await machines(world, cluster)
        preview = await world.estimate_resize(cluster, POD16)
        assert (preview.moves, preview.capacity.available, preview.quota.needed) == (False, True, 3)
        grown = await world.resize(cluster, POD16)
        shown = await world.cluster(cluster)
        assert (shown["state"], shown["billing"]["status"]) == ("resizing", "paused")
        assert shown["resize"] == {"from_flavor": POD4, "to_flavor": POD16, "moves": False}
        assert await world.resize(cluster, POD16, if_match=1) == grown
        await world.succeeded(grown)
        shown = await world.cluster(cluster)
        assert (shown["state"], shown["state_reason"], shown["flavor"]) == ("active", None, POD16)
        assert (shown["ipus"], len(shown["machines"]), shown["resize"]) == (16, 4, None)
        assert first in await machines(world, cluster)
        assert await server(world, cluster) == before
        assert await used(world) == 4
        assert world.partitions() == [await world.external_name(cluster)]
        assert await intervals(world, cluster) == [(1, False), (4, True)]
        assert await world.findings() == []
        event = await world.value("SELECT data FROM events WHERE type = 'cluster.resized'")
        assert event == {"from_flavor": POD4, "to_flavor": POD16, "moved": False}

        await world.succeeded(await world.resize(cluster, POD4))
        shown = await world.cluster(cluster)
        assert (shown["flavor"], shown["ipus"], len(shown["machines"])) == (POD4, 4, 1)
        assert await server(world, cluster) == before
        assert await used(world) == 1
        assert await intervals(world, cluster) == [(1, False), (4, False), (1, True)]
        assert await world.findings() == []


async def test_a_cluster_moves_when_its_neighbours_are_taken(world: SiteWorld) -> None:
    """Its quota counts the larger size once, although it holds both blocks for a while."""
    async with world.worker():
        cluster = await world.build(flavor=POD4)
        neighbour = await world.build("neighbour", flavor=POD4)
        [first], [beside] = await machines(world, cluster), await machines(world, neighbour)
        before = await server(world, cluster)
        assert (await world.estimate_resize(cluster, POD16)).moves
        resized = await world.resize(cluster, POD16)
        assert len(await machines(world, cluster)) == 5
        assert await used(world) == 5
        await world.succeeded(resized)
        assert not {first, beside} & set(await machines(world, cluster))
        assert await server(world, cluster) == before
        assert await used(world) == 5
        assert await world.findings() == []
        assert await world.value(
            "SELECT count(*) FROM machines m WHERE name = :name AND NOT EXISTS"
            " (SELECT FROM allocations a WHERE a.machine_id = m.id AND a.freed_at IS NULL)",
            name=first,
        )


async def test_partitions_that_fit_are_made_again(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build(flavor=POD8)
        own = await world.external_name(cluster)
        await world.succeeded(await world.remove_partition(cluster, own))
        for name, size in (("training", 4), ("eval", 2), ("test", 2)):
            await world.succeeded(await world.create_partition(cluster, name, size=size))
        before = await world.column("SELECT id FROM partitions WHERE removed_at IS NULL ORDER BY id")
        await world.succeeded(await world.resize(cluster, POD16))
        await until(lambda: _are_active(world, {"training": 4, "eval": 2, "test": 2}), "the partitions are active")
        assert await world.column("SELECT id FROM partitions WHERE removed_at IS NULL ORDER BY id") == before

        promised = {each.name: each.ipus_after for each in (await world.estimate_resize(cluster, POD4)).partitions}
        assert promised == {"training": 4, "eval": None, "test": None}
        await world.succeeded(await world.resize(cluster, POD4))

        missing = "SELECT array_agg(name ORDER BY name) = '{eval,test}' FROM partitions WHERE state = 'missing'"
        await until(lambda: world.value(missing), "those that do not fit are missing")
        assert await world.column("SELECT name FROM partitions WHERE state = 'active'") == ["training"]
        said = await world.column("SELECT detail FROM operation_steps WHERE name = 'create_partition' AND detail <> ''")
        assert any("not made again, for want of room" in each for each in said)
        assert await world.findings() == []


async def _are_active(world: SiteWorld, sizes: dict[str, int]) -> bool:
    shown = "SELECT p.name, shown.size FROM partitions p JOIN shown_partitions shown USING (id)"
    return {row.name: row.size for row in await world.rows(f"{shown} WHERE p.state = 'active'")} == sizes


async def test_a_resize_goes_on_with_other_machines(world: SiteWorld) -> None:
    """What has failed is kept from everybody, so the new size is placed elsewhere; or in another part of the former."""
    async with world.worker():
        cluster = await world.build(flavor=POD4)
        before, [first] = await server(world, cluster), await machines(world, cluster)
        resized = await world.resize(cluster, POD8)
        [_, joining] = sorted(await machines(world, cluster))
        world.http.post(f"/v1/machines/{joining}:fail").raise_for_status()
        await world.succeeded(resized)
        shown = await world.cluster(cluster)
        assert (shown["state"], shown["state_reason"], shown["flavor"]) == ("active", None, POD8)
        assert not {first, joining} & set(await machines(world, cluster))
        assert await server(world, cluster) == before
        assert await used(world) == 2
        assert await intervals(world, cluster) == [(1, False), (2, True)]
        assert world.partitions() == [await world.external_name(cluster)]
        assert await world.column("SELECT name FROM machines WHERE NOT allocatable") == [joining]
        assert await world.value("SELECT data -> 'moved' FROM events WHERE type = 'cluster.resized'") is True
        assert await world.findings() == []

        held = await machines(world, cluster)
        smaller = await world.resize(cluster, POD4)
        world.http.post(f"/v1/machines/{held[0]}:fail").raise_for_status()
        await world.succeeded(smaller)
        assert await machines(world, cluster) == held[1:]
        assert await used(world) == 1
        assert await world.findings() == []


async def test_a_resize_without_other_machines_restores_the_former_size(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build(flavor=POD4)
        other = await world.build("other", flavor=POD16)
        await world.build("third", flavor=POD8)
        before, [first] = await server(world, cluster), await machines(world, cluster)
        resized = await world.resize(cluster, POD8)
        [_, joining] = sorted(await machines(world, cluster))
        world.http.post(f"/v1/machines/{joining}:fail").raise_for_status()
        ended = await world.finished(resized)
        assert (ended.state, ended.error["code"]) == ("failed", "capacity_exhausted")
        assert f"machine {joining} failed. No other healthy hardware is free" in ended.error["detail"]
        assert "gets its former size back" in ended.error["detail"]
        shown = await world.cluster(cluster)
        assert (shown["state"], shown["state_reason"], shown["flavor"]) == ("active", None, POD4)
        assert await machines(world, cluster) == [first]
        assert await server(world, cluster) == before
        assert await used(world) == 1 + 4 + 2
        assert await intervals(world, cluster) == [(1, False), (1, True)]
        assert await world.column("SELECT name FROM machines WHERE NOT allocatable") == [joining]
        assert await world.findings() == []
        await world.succeeded(await world.delete(other))
        assert (await world.estimate_resize(cluster, POD8)).moves
        await world.succeeded(await world.resize(cluster, POD8))
        assert joining not in await machines(world, cluster)
        assert await world.findings() == []


async def test_a_resize_that_cannot_be_undone_suspends_the_cluster(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build(flavor=POD4)
        before, [first] = await server(world, cluster), await machines(world, cluster)
        other = await world.build("other", flavor=POD16)
        await world.build("third", flavor=POD8)
        resized = await world.resize(cluster, POD8)
        for name in await machines(world, cluster):
            world.http.post(f"/v1/machines/{name}:fail").raise_for_status()
        ended = await world.finished(resized)
        assert (ended.state, ended.error["code"]) == ("failed", "capacity_exhausted")
        shown = await world.cluster(cluster)
        assert (shown["state"], shown["flavor"], shown["billing"]["status"]) == ("suspended", POD4, "paused")
        assert shown["state_reason"] == "the resize, which could not be undone, failed; its operation has the reason"
        assert await machines(world, cluster) == []
        assert await used(world) == 4 + 2
        assert await world.findings() == []
        await world.succeeded(await world.delete(other))
        await world.succeeded(await world.resume(cluster))
        assert first not in await machines(world, cluster)
        after = await server(world, cluster)
        assert (after.state, after.host_key, after.ssh_port) == (before.state, before.host_key, before.ssh_port)


async def test_a_cluster_grows_over_several_domains_and_back(database: Scratch, tmp_path_factory: Any) -> None:
    """From half of a domain to the whole of it and its neighbour."""
    with running_site(tmp_path_factory.mktemp("large"), machines=64, options=["--servers", "2"]) as site:
        async with open_site_world(database, site) as world, world.worker():
            cluster = await world.build(flavor="m2000-pod32")
            await world.succeeded(await world.resize(cluster, "m2000-pod64"))
            assert len(await machines(world, cluster)) == 16
            assert await world.findings() == []
            await world.succeeded(await world.resize(cluster, POD8))
            assert len(await machines(world, cluster)) == 2
            assert await world.findings() == []
            await world.delete_all()
