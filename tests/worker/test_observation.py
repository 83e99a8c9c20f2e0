"""What a worker observes at a site, and what it does not conclude from a site that is silent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.inventory.health.observations import automation_halted
from ipucloud.kernel.clock import Clock, SystemClock
from ipucloud.observation.findings import PowerWatch
from ipucloud.observation.notified import Notified
from ipucloud.observation.observe import Observed, observe_region
from ipucloud.observation.reconciler import ObservationReconciler, ensure_observation
from ipucloud.observation.servers import SshReader
from ipucloud.observation.work import OBSERVATION, Fence
from ipucloud.reconcile.reconciler import LeaseLost, WorkItem
from ipucloud.reconcile.wake import PLATFORM
from ipucloud.wire.faults import FaultAction
from tests.support.breakable import repair_everything
from tests.support.site import RunningSite
from tests.support.waiting import PATIENCE, until
from tests.support.world import SiteWorld, open_site_world
from tests.support.world.clock import shift_clock

pytestmark = pytest.mark.anyio

SITE = {"machines": 16, "options": ["--machines-on"]}
WORLD = open_site_world

REGION = "luxembourg-2"
NEVER = 3600.0
LIVE = """
SELECT coalesce(m.name, h.name) AS name, r.source, r.code, r.confirmed_at IS NOT NULL AS confirmed
  FROM health_reports r LEFT JOIN machines m ON m.id = r.machine_id LEFT JOIN hosts h ON h.id = r.host_id
 WHERE r.cleared_at IS NULL ORDER BY name, code
"""


@pytest.fixture
def world(world: SiteWorld) -> Iterator[SiteWorld]:
    yield world
    world.clear_faults()
    repair_everything(world)


@pytest.fixture
def names(site: RunningSite) -> list[str]:
    """The machines of the only pod, by slot."""
    return [machine.name for machine in site.region(REGION).pods[0].machines]


async def anybody(_: AsyncConnection) -> None:
    """The fence of a worker that nobody else follows."""


async def observe(
    world: SiteWorld, *, clock: Clock | None = None, fence: Fence = anybody, power: PowerWatch | None = None
) -> Observed:
    """One observation of the region."""
    clock = clock or SystemClock()
    observation = await observe_region(
        world.database,
        world.sites,
        REGION,
        budget=lambda: PATIENCE,
        fence=fence,
        clock=clock,
        ssh=SshReader(clock),
        power=power or PowerWatch(clock, 600.0),
        expires=60.0,
    )
    assert observation is not None
    return observation


async def live(world: SiteWorld) -> list[tuple[str, str, bool]]:
    return [(row.name, row.code, row.confirmed) for row in await world.rows(LIVE)]


async def offered(world: SiteWorld) -> set[str]:
    """Machines that new clusters may get."""
    return set(await world.column("SELECT name FROM machines WHERE allocatable AND name LIKE 'lux2-%'"))


def break_machine(world: SiteWorld, name: str) -> None:
    world.http.post(f"/v1/machines/{name}:fail").raise_for_status()


def repair_machine(world: SiteWorld, name: str) -> None:
    world.http.post(f"/v1/machines/{name}:repair").raise_for_status()


@pytest.mark.acceptance("STG04-01")
async def test_a_failed_machine_is_suspected_confirmed_and_good_again(world: SiteWorld, names: list[str]) -> None:
    assert await observe(world) == Observed(soon=False, complete=True)
    break_machine(world, names[3])
    assert (await observe(world)).soon
    assert await live(world) == [(names[3], "bmc_critical", False)]
    assert await offered(world) == set(names)
    await observe(world)
    assert await live(world) == [(names[3], "bmc_critical", True)]
    assert await offered(world) == set(names) - {names[3]}
    assert await world.column("SELECT health FROM machines WHERE NOT allocatable") == ["failed"]
    assert not (await observe(world)).soon
    repair_machine(world, names[3])
    for _ in range(3):
        assert names[3] not in await offered(world)
        await observe(world)
    assert await live(world) == []
    assert await offered(world) == set(names)


async def test_a_reading_is_as_old_as_it_is_however_late_it_was_written(world: SiteWorld) -> None:
    async def stand_still(_: AsyncConnection) -> None:
        shift_clock(world.scratch.owner_url, "1 minute")

    await observe(world, fence=stand_still)
    ages = "SELECT app_now() - finished_at >= interval '1 minute' AND stale_at <= app_now() FROM observations"
    assert set(await world.column(f"{ages} WHERE finished_at IS NOT NULL")) == {True}


async def test_a_machine_that_neither_switches_on_nor_off_has_failed(world: SiteWorld, names: list[str]) -> None:
    clock = SystemClock()
    patient, impatient = PowerWatch(clock, 600.0), PowerWatch(clock, 0.0)
    await (await world.site_client()).machines.power_off(names[3], "")
    world.http.post(f"/v1/machines/{names[3]}:hang").raise_for_status()
    await (await world.site_client()).machines.power_on(names[3], "")
    for _ in range(3):
        await observe(world, power=patient)
    assert await live(world) == []
    for _ in range(3):
        await observe(world, power=impatient)
    assert await live(world) == [(names[3], "power_stuck", True)]
    assert await offered(world) == set(names) - {names[3]}
    await observe(world, power=PowerWatch(clock, 600.0))  # a worker that has just started
    assert await world.value("SELECT max(good_readings) FROM health_reports") == 0
    repair_machine(world, names[3])
    for _ in range(3):
        await observe(world, power=impatient)
    assert await live(world) == []


async def test_a_worker_that_was_overtaken_writes_nothing_of_its_reading(world: SiteWorld, names: list[str]) -> None:
    clock = SystemClock()
    reconciler = ObservationReconciler(
        world.database, world.sites, clock=clock, interval=5.0, expires=60.0, limit=None, power_limit=600.0
    )
    item = WorkItem(
        OBSERVATION, REGION, PLATFORM, fence=1, attempt=1, deadline=clock.monotonic() + PATIENCE, clock=clock
    )
    await world.execute(
        "INSERT INTO work (kind, key, project_id, fence, lease_owner, lease_until)"
        " VALUES (:kind, :key, :project, 1, 1, app_now() + interval '1 hour')",
        kind=OBSERVATION,
        key=REGION,
        project=PLATFORM,
    )
    async with world.database.read() as connection:
        assert await reconciler.load(connection, item) == REGION
    await world.execute("UPDATE work SET fence = 2 WHERE kind = :kind", kind=OBSERVATION)
    break_machine(world, names[3])
    with pytest.raises(LeaseLost):
        await reconciler.act(item, REGION)
    repair_machine(world, names[3])
    await world.execute("DELETE FROM work WHERE kind = :kind", kind=OBSERVATION)
    assert await live(world) == []
    assert await world.rows("SELECT region FROM observations") == []


async def test_a_site_that_does_not_answer_makes_nothing_fail(world: SiteWorld, names: list[str]) -> None:
    await observe(world)
    before = await world.rows("SELECT source, finished_at FROM observations ORDER BY source")
    for call in ("redfish.list", "hosts.list", "admin.ListAgents"):
        world.fault(call=call, action=FaultAction.STATUS)
    for _ in range(3):
        assert not (await observe(world)).complete
    assert await live(world) == []
    assert await offered(world) == set(names)
    failed = await world.rows("SELECT source, finished_at, error, failed_since FROM observations ORDER BY source")
    assert [(each.source, each.finished_at) for each in failed] == [(each.source, each.finished_at) for each in before]
    assert all(each.error and each.failed_since for each in failed)
    world.clear_faults()
    assert (await observe(world)).complete
    assert await world.column("SELECT error FROM observations WHERE error IS NOT NULL") == []


async def test_a_silent_bmc_makes_its_machine_unknown_and_hides_no_fault(world: SiteWorld, names: list[str]) -> None:
    break_machine(world, names[0])
    for _ in range(2):
        await observe(world)
    world.fault(call="redfish.member", target=names[0], action=FaultAction.STATUS)
    world.fault(call="redfish.member", target=names[1], action=FaultAction.STATUS)
    for _ in range(4):
        await observe(world)
    assert await live(world) == [
        (names[0], "bmc_critical", True),
        (names[0], "not_observed", True),
        (names[1], "not_observed", True),
    ]
    health = "SELECT health FROM machines WHERE NOT allocatable ORDER BY slot"
    assert await world.column(health) == ["failed", "unknown"]


async def test_a_link_that_is_impaired_is_reported_with_its_machine(world: SiteWorld, names: list[str]) -> None:
    path = "/v1/machines/{}/links/next:{}"
    world.http.post(path.format(names[2], "fail"), json={"state": "degraded"}).raise_for_status()
    world.http.post(path.format(names[6], "fail"), json={"state": "down"}).raise_for_status()
    for _ in range(2):
        await observe(world)
    assert await live(world) == [(names[2], "link_degraded", True), (names[6], "link_down", True)]
    assert await offered(world) == set(names) - {names[6]}


@asynccontextmanager
async def notified(world: SiteWorld) -> AsyncIterator[Notified]:
    listener = Notified(world.database, world.sites.events, SystemClock())
    task = asyncio.create_task(listener.run())
    yield listener
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_a_change_that_the_site_notifies_of_is_read_at_once(world: SiteWorld, site: RunningSite) -> None:
    """Also after the stream broke, for which nobody has to do anything."""
    [one, other, *_] = [machine.name for machine in site.region(REGION).pods[0].machines]

    async def failed(*machines: str) -> bool:
        names = {name for name, code, confirmed in await live(world) if confirmed and code == "bmc_critical"}
        return names == {*machines}

    await ensure_observation(world.database, NEVER)
    async with world.worker(observation_interval=NEVER), notified(world) as listener:
        await asyncio.wait_for(listener.listening.wait(), 60.0)
        break_machine(world, one)
        await until(lambda: failed(one), "the failure is read")
        world.fault(call="redfish.events", action="drop_answer")
        repair_machine(world, one)
        break_machine(world, one)

        async def broken() -> bool:
            return not listener.listening.is_set()

        await until(broken, "the stream breaks")
        break_machine(world, other)
        world.clear_faults()
        await until(lambda: failed(one, other), "what happened meanwhile is read with the next stream")
    for each in (one, other):
        repair_machine(world, each)


async def test_when_much_fails_at_once_it_is_reported_and_automation_halts(world: SiteWorld, names: list[str]) -> None:
    async def halted() -> bool:
        async with world.database.read() as connection:
            return await automation_halted(connection, REGION)

    for name in names[:6]:
        break_machine(world, name)
    await observe(world)
    assert await halted()
    await observe(world)
    assert await offered(world) == set(names[6:])
    assert await halted()
    for name in names[:6]:
        repair_machine(world, name)
    for _ in range(3):
        await observe(world)
    assert (await live(world), await halted()) == ([], False)
    event_types = (
        "SELECT type FROM events WHERE type LIKE 'automation.%' AND region = :region AND operators ORDER BY id"
    )
    assert await world.column(event_types, region=REGION) == ["automation.halted", "automation.resumed"]


async def test_a_worker_observes_what_a_cluster_uses(world: SiteWorld, names: list[str]) -> None:
    """The whole way once: a worker at work, a cluster, a machine and a server that fail and come back."""
    async with world.worker(observation_interval=0.05):
        cluster = await world.build(flavor="m2000-pod4")
        held = "SELECT m.name FROM allocations a JOIN machines m ON m.id = a.machine_id WHERE cluster_id = :id"
        [machine] = await world.column(held, id=cluster)
        hosts = "SELECT h.name FROM allocations a JOIN hosts h ON h.id = a.host_id WHERE cluster_id = :id"
        [host] = await world.column(hosts, id=cluster)

        async def reported(expected: list[tuple[str, str, bool]]) -> None:
            async def is_so() -> bool:
                return await live(world) == expected

            await until(is_so, f"{expected} is reported")

        break_machine(world, machine)
        await reported([(machine, "bmc_critical", True)])
        of_the_machine = "SELECT cluster_id FROM health_reports WHERE code = 'bmc_critical'"
        assert await world.column(of_the_machine) == [cluster]
        repair_machine(world, machine)
        await reported([])
        world.http.post(f"/v1/hosts/{host}:fail").raise_for_status()
        await reported([(host, "host_failed", True)])
        world.http.post(f"/v1/hosts/{host}:repair").raise_for_status()
        await reported([])
        await world.delete_all()
