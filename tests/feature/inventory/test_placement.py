"""Which machines are free, according to the database's side of the allocator."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from dataclasses import replace
from uuid import UUID

import pytest

from ipucloud.catalogue.load import load
from ipucloud.clusters.operations.create import create
from ipucloud.config import Settings
from ipucloud.inventory.health.codes import Code, Kind
from ipucloud.inventory.health.reports import clear
from ipucloud.inventory.placement import Demand, Need, NoRoom, allocate, read_room
from ipucloud.inventory.queries import FlavorCapacity, region_capacity
from ipucloud.inventory.snapshot import SlotState, bits
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.ids import new_id
from tests.support.factories import make_project
from tests.support.postgres import Database as Scratch
from tests.support.waiting import PATIENCE
from tests.support.world import World, cluster_body, open_world
from tests.unit.inventory.model import best_fit

pytestmark = pytest.mark.anyio

BROKEN_BY_A_ROGUE = {
    "cluster_holds_its_machines",
    "cluster_machines_form_a_block",
    "cluster_numbers_its_machines",
    "every_host_of_a_cluster_has_its_server",
    "machines_are_what_the_cluster_asked_for",
    "quota_counts_what_is_held",
}
"""What taking machines for a cluster without a request breaks."""

M2000 = Need("m2000", machines=1, hosts=1)


async def states(world: World) -> list[SlotState]:
    """Of Luxembourg's machines, by slot."""
    async with world.database.read() as connection:
        room = await read_room(connection, "luxembourg-2", M2000)
    by_slot = {slot: state for pod in room.pods for state in SlotState for slot in bits(pod.mask(state))}
    return [by_slot[slot] for slot in sorted(by_slot)]


async def change(world: World, statement: str) -> None:
    """Change machines, hosts or allocations by hand."""
    await world.execute(statement)
    await world.sync_pods_and_hosts()


async def why_not(world: World, machines: int) -> NoRoom | None:
    async with world.database.read() as connection:
        need = replace(M2000, machines=machines)
        return (await read_room(connection, "luxembourg-2", need)).why_not(need)


async def capacities(world: World) -> dict[str, FlavorCapacity]:
    async with world.database.read() as connection:
        flavors = world.catalogue.flavors_in("luxembourg-2")
        flavor_capacities = await region_capacity(connection, region="luxembourg-2", flavors=flavors)
    return {flavor.flavor: flavor for flavor in flavor_capacities}


async def test_a_machine_is_free_only_when_nobody_holds_it_and_nothing_is_wrong_with_it(world: World) -> None:
    created = await world.create(flavor="m2000-pod8")
    await world.impair(Code.LINK_DOWN, "slot IN (0, 2)")
    await world.impair(Code.MAINTENANCE, "slot = 3")
    held = [SlotState.ALLOCATED] * 2
    rest = [SlotState.UNHEALTHY, SlotState.MAINTENANCE] + [SlotState.FREE] * 12
    assert await states(world) == held + rest
    await change(world, "UPDATE allocations SET released_at = app_now()")
    assert await states(world) == [SlotState.CLEANING] * 2 + rest
    await world.delete(created.target_id)
    await world.finish_delete(created.target_id)
    assert await states(world) == [SlotState.UNHEALTHY, SlotState.FREE, *rest]


async def test_unhealthy_machines_and_hosts_take_no_cluster(world: World) -> None:
    await world.impair(Code.BMC_CRITICAL, "slot > 3")
    await world.impair(Code.MAINTENANCE, "name NOT LIKE '%-007'", kind="host")
    created = await world.create(flavor="m2000-pod16")
    cluster = await world.cluster(created.target_id)
    assert [machine["slot"] for machine in cluster["machines"]] == [0, 1, 2, 3]
    assert await world.column("SELECT name FROM hosts JOIN allocations ON host_id = hosts.id") == [
        "luxembourg-2-m2000-host-007"
    ]


async def test_the_reason_given_is_the_one_that_holds(world: World) -> None:
    assert await why_not(world, 16) is None
    failed = await world.impair(Code.BMC_CRITICAL, "slot = 5")
    assert (await why_not(world, 16) or pytest.fail("it does not fit")).reason == "health"
    await world.impair(Code.MAINTENANCE, "slot = 5")
    async with world.database.begin() as connection:
        for report_id in failed:
            assert await clear(connection, report_id=report_id)
    assert (await why_not(world, 16) or pytest.fail("it does not fit")).reason == "maintenance"


async def test_an_allocation_that_its_pod_does_not_show_is_refused_by_the_index(world: World) -> None:
    """Somebody's bug must cost the customer a retry, never a machine that two of them hold."""
    world.broken_on_purpose.update(BROKEN_BY_A_ROGUE | {"pod_shows_its_machines"})
    other = await world.create(region="amsterdam-2", flavor="bow-pod4")
    await world.execute(
        "INSERT INTO allocations (id, project_id, cluster_id, machine_id, ordinal)"
        " SELECT gen_random_uuid(), :project_id, :cluster_id, id, 100 + slot FROM machines WHERE name LIKE 'lux%'",
        project_id=world.project.id,
        cluster_id=other.target_id,
    )
    with pytest.raises(Problem) as raised:
        await world.create("second")
    assert (raised.value.kind.code, raised.value.kind.retryable) == ("unavailable", True)


@pytest.mark.parametrize(
    ("flavor", "kind", "failed", "reason"),
    [
        ("m2000-pod4", "machine", "slot > 0 AND name LIKE 'lux%'", "health"),
        ("m2000-pod64", "machine", "false", "capacity"),
        ("m2000-pod4", "host", "name <> 'luxembourg-2-m2000-host-007'", "hosts"),
    ],
)
async def test_while_the_last_room_is_being_taken_others_wait(
    world: World, *, flavor: str, kind: Kind, failed: str, reason: str
) -> None:
    """Who takes it may still fail: nobody is refused before that is certain."""
    await world.impair(Code.BMC_CRITICAL if kind == "machine" else Code.HOST_FAILED, failed, kind=kind)
    async with world.database.begin() as connection:
        other = world.customer(await make_project(connection))
    first = cluster_body("first", flavor=flavor)
    async with world.database.begin() as connection:
        accepted = await create(connection, world.project.actor, first, catalogue=load(), settings=Settings())
        contender = asyncio.create_task(other.create("second", flavor))
        await waiting_for_a_lock(world)
    with pytest.raises(Problem) as refused:
        await contender
    said = refused.value.document()["why_not"]
    assert isinstance(said, dict)
    assert said["reason"] == reason
    await world.delete(accepted.target_id)
    await world.finish_delete(accepted.target_id)

    with suppress(LookupError):
        async with world.database.begin() as connection:
            await create(connection, world.project.actor, first, catalogue=load(), settings=Settings())
            contender = asyncio.create_task(other.create("second", flavor))
            await waiting_for_a_lock(world)
            raise LookupError
    await contender


async def waiting_for_a_lock(world: World) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await world.column("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"):
            await asyncio.sleep(0.005)


async def test_machine_types_that_share_hosts_never_take_the_same_one(world: World) -> None:
    """Hosts belong to a region, whatever the machines they drive."""
    world.broken_on_purpose.update(BROKEN_BY_A_ROGUE)
    await world.execute(
        "UPDATE pods SET region = 'luxembourg-2', controller = 'luxembourg-2' WHERE machine_type = 'bow-2000'"
    )
    await world.execute("UPDATE pod_runs SET region = 'luxembourg-2' WHERE machine_type = 'bow-2000'")
    await world.impair(Code.MAINTENANCE, "name NOT LIKE 'lux%-00_'", kind="host")
    created = await world.create()
    bow = Demand(world.project.id, created.target_id, "luxembourg-2", replace(M2000, machine_type="bow-2000", hosts=9))
    async with world.database.begin() as connection:
        await allocate(connection, bow)
    assert await world.column("SELECT count(DISTINCT host_id) FROM allocations") == [10]
    with pytest.raises(Problem, match="1 Poplar server and the region has 0 free"):
        await world.create("second")


async def test_what_the_database_chooses_is_the_best_fit_and_rows_follow_the_machines(database: Scratch) -> None:
    """Clusters come and go at random. Each time the machines are those of the model, and no rule is broken."""
    draw = random.Random(12)  # noqa: S311
    async with open_world(database.app_url, pods=4, hosts=64) as world:
        held: list[UUID] = []
        for number in range(60):
            if held and draw.random() < 0.4:
                cluster = held.pop(draw.randrange(len(held)))
                await world.delete(cluster)
                await world.finish_delete(cluster)
                continue
            flavor, machines = draw.choice([("pod4", 1), ("pod8", 2), ("pod16", 4), ("pod64", 16), ("pod128", 32)])
            async with world.database.read() as connection:
                pods = (await read_room(connection, "luxembourg-2", M2000)).pods
            expected = best_fit(pods, machines)
            if expected is None:
                with pytest.raises(Problem, match="capacity_exhausted"):
                    await world.create(f"c{number}", f"m2000-{flavor}")
                continue
            held.append((await world.create(f"c{number}", f"m2000-{flavor}")).target_id)
            places = await world.rows(PLACES, cluster_id=held[-1])
            assert [(pods[index].position, slot) for index, slot in expected] == [tuple(place) for place in places]


PLACES = (
    "SELECT position, slot FROM allocations JOIN machines ON machines.id = machine_id JOIN pods ON pods.id = pod_id"
    " WHERE cluster_id = :cluster_id ORDER BY ordinal"
)


async def test_a_failed_host_is_not_counted_as_room(world: World) -> None:
    await world.impair(Code.HOST_FAILED, kind="host")
    assert await why_not(world, 1) == NoRoom(
        "hosts",
        "The cluster needs 1 Poplar server and the region has 0 free. Try again later, or choose another region.",
        {"wanted_hosts": 1, "free_hosts": 0},
    )


async def test_capacity_counts_each_flavor_as_if_it_were_asked_for_alone(world: World) -> None:
    before = await capacities(world)
    available = [before[f"m2000-{name}"].available for name in ("pod4", "pod16", "pod64", "pod128")]
    assert available == [16, 4, 1, 0]
    assert before["m2000-pod128"].why_not is not None
    assert before["m2000-pod4"].why_not is None
    await world.create(flavor="m2000-pod8")
    after = await capacities(world)
    assert (after["m2000-pod4"].available, after["m2000-pod16"].available, after["m2000-pod64"].available) == (14, 3, 0)
    await world.impair(Code.MAINTENANCE, "name NOT LIKE 'lux%-00_' AND NOT held", kind="host")
    hosts = await world.value("SELECT count(*) FROM hosts WHERE allocatable AND NOT held AND region = 'luxembourg-2'")
    assert (await capacities(world))["m2000-pod4"].available == hosts < 14


async def test_what_capacity_shows_can_be_created(world: World) -> None:
    shown = (await capacities(world))["m2000-pod16"].available
    for index in range(shown):
        await world.create(f"c{index}", flavor="m2000-pod16")
    with pytest.raises(Problem, match="capacity_exhausted"):
        await world.create("one-more", flavor="m2000-pod16")


async def test_a_region_without_hardware_has_no_room_for_anything(world: World) -> None:
    async with world.database.read() as connection:
        flavors = world.catalogue.flavors_in("luxembourg-2")
        flavor_capacities = await region_capacity(connection, region="atlantis-1", flavors=flavors)
    assert {flavor.available for flavor in flavor_capacities} == {0}
    assert all(flavor.why_not for flavor in flavor_capacities)
    async with world.database.begin() as connection:
        demand = Demand(world.project.id, new_id(), "atlantis-1", M2000)
        with pytest.raises(Problem, match="capacity_exhausted"):
            await allocate(connection, demand)
