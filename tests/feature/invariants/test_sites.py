"""Each corruption between the database and a simulated site is found, alone, and healed there or refused."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ipucloud.invariants.repairing import Outcome
from ipucloud.invariants.site_rules import SITE_RULES
from ipucloud.kernel.clock import SystemClock
from ipucloud.kernel.ids import external_name, new_id
from tests.feature.invariants.planting import plant
from tests.feature.invariants.stage import Stage
from tests.support.invariants import in_one_line
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite, running_site
from tests.support.world import open_world

pytestmark = pytest.mark.anyio

REPAIRED, LEFT, REFUSED = Outcome.REPAIRED, Outcome.LEFT_TO_WORKER, Outcome.REFUSED
FORGOTTEN = external_name(new_id(), 1)


@dataclass(frozen=True)
class Corruption:
    """`plant` breaks `rule`; a heal of it ends as `outcome`. `undo` gives back what no delete of a cluster finds."""

    rule: str
    outcome: Outcome
    plant: Callable[[Stage], None]
    undo: Callable[[Stage], None] = lambda _: None


def stray_allocation(stage: Stage) -> None:
    stage.power_on(stage.spare)
    stage.allocate("stray", stage.spare)
    stage.vipu.create("theirs", 4, allocation_id="stray")


def stray_server(stage: Stage) -> None:
    stage.network("meanwhile", stage.spare, host=stage.spare_host)
    stage.server("stray", stage.spare_host, "meanwhile")
    stage.remove_network("meanwhile")


def other_machines(stage: Stage) -> None:
    stage.remove_allocation()
    stage.power_on(stage.spare)
    stage.allocate(stage.name, stage.spare)
    stage.vipu.create(stage.name, 4, allocation_id=stage.name)


def other_ports(stage: Stage) -> None:
    stage.remove_network()
    stage.network(stage.name, stage.machine, stage.spare, host=stage.host)


def unlisted_host(stage: Stage) -> None:
    statement = (
        "INSERT INTO hosts (id, region, name, address)"
        " VALUES (gen_random_uuid(), 'luxembourg-2', 'not-there', '10.0.0.9')"
    )
    plant(stage.scratch.superuser_url, [statement], {})


def forget_host(stage: Stage) -> None:
    plant(stage.scratch.superuser_url, ["DELETE FROM hosts WHERE name = 'not-there'"], {})


CORRUPTIONS = (
    Corruption("allocation_belongs_to_a_cluster", REPAIRED, stray_allocation),
    Corruption("network_belongs_to_a_cluster", REPAIRED, lambda stage: stage.network("stray", stage.spare)),
    Corruption("server_belongs_to_a_cluster", REPAIRED, stray_server),
    Corruption(
        "named_resource_has_a_record",
        REFUSED,
        lambda stage: stage.allocate(FORGOTTEN, stage.spare),
        lambda stage: stage.vipu.release(FORGOTTEN),
    ),
    Corruption("cluster_in_use_has_its_allocation", LEFT, Stage.remove_allocation),
    Corruption("allocation_has_the_machines_of_its_cluster", REFUSED, other_machines),
    Corruption("cluster_in_use_has_its_partition", LEFT, Stage.remove_partition),
    Corruption("partition_of_a_cluster_works", REFUSED, Stage.fail_machine, Stage.repair_machine),
    Corruption("cluster_in_use_has_its_network", LEFT, Stage.remove_network),
    Corruption("network_joins_what_the_cluster_has", REFUSED, other_ports),
    Corruption("cluster_in_use_has_its_servers", LEFT, Stage.wipe_server),
    Corruption("hardware_is_listed_by_its_site", REFUSED, unlisted_host, forget_host),
)
ELSEWHERE = frozenset({"hardware_belongs_to_one_cluster", "suspended_cluster_has_its_servers"})
"""These need a cluster that is being created, and one that is suspended; each has a test of its own."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[RunningSite]:
    with running_site(tmp_path / "site", machines=16) as site:
        yield site


@pytest.fixture
async def stage(database: Scratch, site: RunningSite) -> AsyncIterator[Stage]:
    async with open_world(database, site) as world:
        yield await Stage.open(world, database)
        async with world.worker():
            await world.delete_all()
        await world.assert_nothing_left()


async def rules_broken(stage: Stage) -> set[str]:
    return {finding.rule.name for finding in await stage.look()}


async def test_a_cluster_in_use_breaks_no_rule(stage: Stage) -> None:
    assert [in_one_line(finding) for finding in await stage.look()] == []


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=lambda corruption: corruption.rule)
async def test_a_corruption_is_found_alone_and_repaired_or_refused(stage: Stage, corruption: Corruption) -> None:
    corruption.plant(stage)
    findings = await stage.look()
    assert [finding.rule.name for finding in findings] == [corruption.rule]
    [repaired] = await stage.repair(findings)
    assert repaired.outcome is corruption.outcome, repaired.sentence
    logged = await stage.world.value("SELECT count(*) FROM repairs WHERE state = 'succeeded'")
    if corruption.outcome is REFUSED:
        assert (logged, await rules_broken(stage)) == (0, {corruption.rule})
    else:
        if repaired.operation_id is not None:
            async with stage.world.worker():
                assert (await stage.world.finished(repaired.operation_id)).state == "succeeded"
        assert (logged, await rules_broken(stage)) == (1, set())
    corruption.undo(stage)


async def test_what_stands_in_a_cluster_s_way_is_found_and_left_to_people(stage: Stage) -> None:
    made = await stage.world.create("second", "m2000-pod4")
    machine = await stage.world.value(
        "SELECT name FROM machines m JOIN allocations a ON a.machine_id = m.id WHERE a.cluster_id = :id", id=made.id
    )
    stage.allocate("stray", machine)
    findings = await stage.look()
    assert [finding.rule.name for finding in findings] == ["hardware_belongs_to_one_cluster"]
    assert [each.outcome for each in await stage.repair(findings)] == [REFUSED]
    assert "stray" in stage.vipu.allocations()
    stage.vipu.release("stray")


async def test_what_comes_back_after_its_cluster_is_gone_is_taken_down(stage: Stage) -> None:
    """A request that was delayed beyond everything; the machines may serve somebody else by then."""
    async with stage.world.worker():
        await stage.world.finished(await stage.world.delete(stage.cluster))
    stage.allocate(stage.name, stage.machine)
    stage.network(stage.name, stage.machine, host=stage.host)
    stage.server(f"{stage.name}-p0", stage.host, stage.name)
    again = await stage.world.create("second", "m2000-pod4")
    assert await stage.world.value(
        "SELECT count(DISTINCT machine_id) = 1 FROM allocations WHERE machine_id IS NOT NULL"
    ), "the second cluster gets the machine of the first"
    repaired = await stage.repair(await stage.look())
    assert {each.finding.rule.name for each in repaired} == {
        "allocation_belongs_to_a_cluster",
        "network_belongs_to_a_cluster",
        "server_belongs_to_a_cluster",
    }
    assert {each.outcome for each in repaired} == {REPAIRED}
    assert await rules_broken(stage) == set()
    assert await stage.world.value("SELECT count(*) FROM events WHERE type = 'audit.repaired'") == 3
    async with stage.world.worker():
        assert (await stage.world.finished(again.operation)).state == "succeeded"


async def test_a_suspended_cluster_keeps_its_server_and_nothing_else(stage: Stage) -> None:
    world = stage.world
    async with world.worker():
        await world.finished(await world.suspend(stage.cluster))
    assert await rules_broken(stage) == set()
    stage.network(stage.name, stage.machine)
    repaired = await stage.repair(await stage.look())
    assert [(each.finding.rule.name, each.outcome) for each in repaired] == [("network_belongs_to_a_cluster", REPAIRED)]
    async with world.worker():
        await world.finished(await world.resume(stage.cluster))
        assert await rules_broken(stage) == set(), "its server has the name that it was given first"
        await world.finished(await world.suspend(stage.cluster))
    stage.wipe_server()
    findings = await stage.look()
    assert [finding.rule.name for finding in findings] == ["suspended_cluster_has_its_servers"]
    assert [each.outcome for each in await stage.repair(findings)] == [REFUSED]
    async with world.worker():
        ended = await world.finished(await world.resume(stage.cluster))
        assert (ended.state, "disk" in ended.error["detail"]) == ("failed", True)


async def test_what_customers_make_in_their_allocation_is_theirs(stage: Stage) -> None:
    stage.remove_partition()
    for name in ("one", "two"):
        stage.vipu.create(name, 2, allocation_id=stage.name)
    stage.network("stray", stage.spare)
    findings = await stage.look()
    assert [finding.violation.object_id for finding in findings] == ["stray"]
    await stage.repair(findings)
    assert sorted(stage.vipu.partitions()) == ["one", "two"]


class Meanwhile(SystemClock):
    """Something happens while somebody sleeps."""

    def __init__(self, happens: Callable[[], object]) -> None:
        self._happens = happens

    async def sleep(self, seconds: float) -> None:
        self._happens()


async def test_what_a_second_observation_does_not_find_again_stays(stage: Stage) -> None:
    stage.network("stray", stage.spare)
    findings = await stage.look()
    clock = Meanwhile(lambda: stage.http.delete("/v1/networks/stray"))
    [repaired] = await stage.repair(findings, clock=clock)
    assert (repaired.outcome, repaired.sentence) == (REFUSED, "A second observation did not find it again.")
    assert await stage.world.value("SELECT count(*) FROM repairs") == 0


async def test_a_controller_that_lost_much_is_not_believed(stage: Stage) -> None:
    stage.remove_allocation()
    for number in range(2):
        stage.network(f"stray-{number}", stage.spares[number])
    findings = await stage.look()
    assert len(findings) == 3
    assert {each.outcome for each in await stage.repair(findings, repair_limit=2)} == {REFUSED}
    assert len(await stage.look()) == 3
    repaired = await stage.repair(findings, repair_limit=3)
    assert {each.outcome for each in repaired} == {REPAIRED, LEFT}


async def test_a_worker_records_again_how_to_log_in(stage: Stage) -> None:
    port = await stage.world.value("SELECT ssh_port FROM poplar_servers")
    plant(stage.scratch.superuser_url, ["UPDATE poplar_servers SET ssh_port = NULL"], {})
    [repaired] = await stage.repair(await stage.look())
    assert repaired.operation_id is not None
    async with stage.world.worker():
        assert (await stage.world.finished(repaired.operation_id)).state == "succeeded"
    assert await stage.world.value("SELECT ssh_port FROM poplar_servers") == port
    assert await rules_broken(stage) == set()


async def test_a_worker_undoes_what_is_overdue(stage: Stage) -> None:
    made = await stage.world.create("second", "m2000-pod4")
    overdue = "UPDATE operations SET deadline_at = app_now() - interval '1 hour' WHERE finished_at IS NULL"
    plant(stage.scratch.superuser_url, [overdue, "UPDATE work SET run_at = app_now() + interval '1 day'"], {})
    [repaired] = await stage.repair(await stage.look())
    assert (repaired.finding.rule.name, repaired.operation_id) == ("operation_ends_in_time", made.operation)
    async with stage.world.worker():
        assert (await stage.world.finished(made.operation)).error["code"] == "deadline_exceeded"
    assert await rules_broken(stage) == set()


async def test_a_worker_cleans_up_after_a_cluster_that_is_gone(stage: Stage) -> None:
    """Its machines come back to the pool and to the quota only when the site showed them clean."""
    async with stage.world.worker():
        await stage.world.finished(await stage.world.delete(stage.cluster))
    lost = ["UPDATE allocations SET freed_at = NULL", "UPDATE quotas SET used = 1 WHERE region = 'luxembourg-2'"]
    plant(stage.scratch.superuser_url, lost, {})
    stage.allocate(stage.name, stage.machine)
    repaired = await stage.repair(await stage.look())
    assert [each.finding.rule.name for each in repaired] == ["gone_cluster_holds_nothing"]
    [operation] = [each.operation_id for each in repaired]
    assert operation is not None
    async with stage.world.worker():
        ended = await stage.world.finished(operation)
    assert (ended.kind, ended.state) == ("cluster.repair", "succeeded")
    assert stage.vipu.allocations() == {}
    assert await rules_broken(stage) == set()


def test_every_rule_about_sites_is_broken_here() -> None:
    broken = {corruption.rule for corruption in CORRUPTIONS} | ELSEWHERE
    assert broken == {rule.name for rule in SITE_RULES}
