"""Each corruption between the database and a simulated site is found, alone, and repaired there or refused."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from ipucloud.db.engine import Database
from ipucloud.invariants import audit
from ipucloud.invariants.repairing import Outcome
from ipucloud.invariants.site_rules import SITE_RULES
from ipucloud.kernel.clock import SystemClock
from ipucloud.kernel.ids import external_name, new_id
from tests.feature.invariants.audited import AuditedWorld
from tests.feature.invariants.planting import plant
from tests.support.invariants import in_one_line
from tests.support.postgres import Database as Scratch
from tests.support.settled import SETTLED
from tests.support.site import RunningSite, running_site
from tests.support.world import opened

pytestmark = pytest.mark.anyio

REPAIRED, LEFT, REFUSED = Outcome.REPAIRED, Outcome.LEFT_TO_WORKER, Outcome.REFUSED
REPORTED = """
INSERT INTO health_reports (id, region, machine_id, source, code, allocation, credited, detail, message)
SELECT gen_random_uuid(), 'luxembourg-2', id, 'v-ipu', 'partition_error', 'prevented', true, 'x', 'x'
  FROM machines
 WHERE id = (SELECT machine_id FROM allocations WHERE cluster_id = %(cluster)s AND machine_id IS NOT NULL)
"""
OBSERVED = """
INSERT INTO observations (region, source, started_at, finished_at, stale_at)
VALUES ('luxembourg-2', 'v-ipu', app_now(), app_now(), app_now())
ON CONFLICT (region, source) DO UPDATE SET started_at = excluded.started_at, finished_at = excluded.finished_at
"""
FORGOTTEN = external_name(new_id(), 1)


@dataclass(frozen=True)
class Corruption:
    """`plant` breaks `rule`; a repair of it ends as `outcome`. `undo` gives back what no delete of a cluster finds."""

    rule: str
    outcome: Outcome
    plant: Callable[[AuditedWorld], None]
    undo: Callable[[AuditedWorld], None] = lambda _: None


def stray_allocation(world: AuditedWorld) -> None:
    world.power_on(world.spare)
    world.allocate("stray", world.spare)
    world.vipu.create("theirs", 4, allocation_id="stray")


def stray_server(world: AuditedWorld) -> None:
    world.network("meanwhile", world.spare, host=world.spare_host)
    world.server("stray", world.spare_host, "meanwhile")
    world.remove_network("meanwhile")


def other_machines(world: AuditedWorld) -> None:
    world.remove_allocation()
    world.power_on(world.spare)
    world.allocate(world.name, world.spare)
    world.vipu.create(world.name, 4, allocation_id=world.name)


def other_endpoint(world: AuditedWorld) -> None:
    world.remove_allocation()
    world.allocate(world.name, world.machine)
    world.vipu.create(world.name, 4, allocation_id=world.name)


def other_ports(world: AuditedWorld) -> None:
    world.remove_network()
    world.network(world.name, world.machine, world.spare, host=world.host)


def unlisted_host(world: AuditedWorld) -> None:
    statement = (
        "INSERT INTO hosts (id, region, name, address)"
        " VALUES (gen_random_uuid(), 'luxembourg-2', 'not-there', '10.0.0.9')"
    )
    plant(world.scratch.superuser_url, [statement], {})


def forget_host(world: AuditedWorld) -> None:
    plant(world.scratch.superuser_url, ["DELETE FROM hosts WHERE name = 'not-there'"], {})


CORRUPTIONS = (
    Corruption("allocation_belongs_to_a_cluster", REPAIRED, stray_allocation),
    Corruption("network_belongs_to_a_cluster", REPAIRED, lambda world: world.network("stray", world.spare)),
    Corruption("server_belongs_to_a_cluster", REPAIRED, stray_server),
    Corruption(
        "named_resource_has_a_record",
        REFUSED,
        lambda world: world.allocate(FORGOTTEN, world.spare),
        lambda world: world.vipu.release(FORGOTTEN),
    ),
    Corruption("cluster_in_use_has_its_allocation", LEFT, AuditedWorld.remove_allocation),
    Corruption("allocation_has_the_machines_of_its_cluster", REFUSED, other_machines),
    Corruption("cluster_has_the_endpoint_of_its_allocation", LEFT, other_endpoint),
    Corruption("cluster_in_use_has_its_partition", LEFT, AuditedWorld.lose_partition),
    Corruption("partition_of_a_cluster_works", REFUSED, AuditedWorld.fail_machine, AuditedWorld.repair_machine),
    Corruption("cluster_in_use_has_its_network", LEFT, AuditedWorld.remove_network),
    Corruption("network_joins_what_the_cluster_has", REFUSED, other_ports),
    Corruption("cluster_in_use_has_its_servers", LEFT, AuditedWorld.wipe_server),
    Corruption("hardware_is_listed_by_its_site", REFUSED, unlisted_host, forget_host),
)
ELSEWHERE = frozenset(
    {
        "hardware_belongs_to_one_cluster",
        "suspended_cluster_has_its_servers",
        "server_of_a_suspended_cluster_is_off",
    }
)
"""These need a cluster that is being created, or one that is suspended; they are broken in tests of their own."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[RunningSite]:
    with running_site(tmp_path / "site", machines=16) as site:
        yield site


@pytest.fixture
async def world(database: Scratch, site: RunningSite) -> AsyncIterator[AuditedWorld]:
    async with opened(AuditedWorld(database, site)) as world:
        yield world
        async with world.worker():
            await world.delete_all()
        await world.assert_nothing_left()


async def rules_broken(world: AuditedWorld) -> set[str]:
    return {finding.rule.name for finding in await world.findings()}


async def test_a_cluster_in_use_breaks_no_rule(world: AuditedWorld) -> None:
    assert [in_one_line(finding) for finding in await world.findings()] == []


@pytest.mark.sample(8)
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=lambda corruption: corruption.rule)
async def test_a_corruption_is_found_alone_and_repaired_or_refused(world: AuditedWorld, corruption: Corruption) -> None:
    corruption.plant(world)
    findings = await world.findings()
    assert [finding.rule.name for finding in findings] == [corruption.rule]
    [repaired] = await world.repair(findings)
    assert repaired.outcome is corruption.outcome, repaired.sentence
    logged = await world.value("SELECT count(*) FROM repairs WHERE state = 'succeeded'")
    if corruption.outcome is REFUSED:
        assert (logged, await rules_broken(world)) == (0, {corruption.rule})
    else:
        if repaired.operation_id is not None:
            async with world.worker():
                await world.succeeded(repaired.operation_id)
        assert (logged, await rules_broken(world)) == (1, set())
    corruption.undo(world)


async def test_a_machine_that_is_known_not_to_work_explains_its_partition(world: AuditedWorld) -> None:
    world.fail_machine()
    assert await rules_broken(world) == {"partition_of_a_cluster_works"}
    plant(world.scratch.superuser_url, [REPORTED], {"cluster": world.in_use})
    assert await rules_broken(world) == set()
    world.repair_machine()


async def test_a_partition_in_error_is_no_violation_before_its_region_was_read_again(
    world: AuditedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The site shows the fault of a machine a moment before an observation does."""
    world.fail_machine()
    [unobserved] = (await world.audited(observed_within=0.01)).findings
    assert unobserved.rule.name == "partition_of_a_cluster_works"
    unread, statements = audit._is_unread, [REPORTED, OBSERVED]

    async def observing(database: Database, regions: Mapping[str, object]) -> bool:
        before = await unread(database, regions)
        plant(world.scratch.superuser_url, statements, {"cluster": world.in_use})
        statements.clear()
        return before

    monkeypatch.setattr(audit, "_is_unread", observing)
    assert (await world.audited(observed_within=300.0)).findings == []
    assert statements == [], "the audit has waited"
    world.repair_machine()


async def test_what_stands_in_a_cluster_s_way_is_found_and_left_to_people(world: AuditedWorld) -> None:
    accepted = await world.create("second", "m2000-pod4")
    machine = await world.value(
        "SELECT name FROM machines m JOIN allocations a ON a.machine_id = m.id WHERE a.cluster_id = :id",
        id=accepted.target_id,
    )
    world.allocate("stray", machine)
    findings = await world.findings()
    assert [finding.rule.name for finding in findings] == ["hardware_belongs_to_one_cluster"]
    assert [each.outcome for each in await world.repair(findings)] == [REFUSED]
    assert "stray" in world.vipu.allocations()
    world.vipu.release("stray")


async def test_what_comes_back_after_its_cluster_is_gone_is_taken_down(world: AuditedWorld) -> None:
    """A request that was delayed beyond everything; the machines may serve somebody else by then."""
    async with world.worker():
        await world.finished(await world.delete(world.in_use))
    world.allocate(world.name, world.machine)
    world.network(world.name, world.machine, host=world.host)
    world.server(f"{world.name}-p0", world.host, world.name)
    again = await world.create("second", "m2000-pod4")
    assert await world.value("SELECT count(DISTINCT machine_id) = 1 FROM allocations WHERE machine_id IS NOT NULL"), (
        "the second cluster gets the machine of the first"
    )
    repaired = await world.repair(await world.findings())
    assert {each.finding.rule.name for each in repaired} == {
        "allocation_belongs_to_a_cluster",
        "network_belongs_to_a_cluster",
        "server_belongs_to_a_cluster",
    }
    assert {each.outcome for each in repaired} == {REPAIRED}
    assert await rules_broken(world) == set()
    assert await world.value("SELECT count(*) FROM events WHERE type = 'audit.repaired'") == 3
    async with world.worker():
        await world.succeeded(again.operation_id)


async def test_a_suspended_cluster_keeps_its_server_and_nothing_else(world: AuditedWorld) -> None:
    async with world.worker():
        await world.finished(await world.suspend(world.in_use))
    assert await rules_broken(world) == set()
    world.network(world.name, world.machine)
    repaired = await world.repair(await world.findings())
    assert [(each.finding.rule.name, each.outcome) for each in repaired] == [("network_belongs_to_a_cluster", REPAIRED)]
    async with world.worker():
        await world.finished(await world.resume(world.in_use))
        assert await rules_broken(world) == set(), "its server has the name that it was given first"
        await world.finished(await world.suspend(world.in_use))
    world.http.post(f"/v1/hosts/{world.host}/power", json={"action": "on"}).raise_for_status()
    repaired = await world.repair(await world.findings())
    assert [(each.finding.rule.name, each.outcome) for each in repaired] == [
        ("server_of_a_suspended_cluster_is_off", REPAIRED)
    ]
    assert await rules_broken(world) == set()
    world.wipe_server()
    findings = await world.findings()
    assert [finding.rule.name for finding in findings] == ["suspended_cluster_has_its_servers"]
    assert [each.outcome for each in await world.repair(findings)] == [REFUSED]
    async with world.worker():
        ended = await world.finished(await world.resume(world.in_use))
        assert (ended.state, "disk" in ended.error["detail"]) == ("failed", True)


async def test_what_customers_make_in_their_allocation_is_theirs(world: AuditedWorld) -> None:
    world.lose_partition()
    for name in ("one", "two"):
        world.vipu.create(name, 2, allocation_id=world.name)
    world.network("stray", world.spare)
    findings = await world.findings()
    assert [finding.violation.object_id for finding in findings] == ["stray"]
    await world.repair(findings)
    assert sorted(world.vipu.partitions()) == ["one", "two"]


class Meanwhile(SystemClock):
    """Something happens while somebody sleeps."""

    def __init__(self, happens: Callable[[], object]) -> None:
        self._happens = happens

    async def sleep(self, seconds: float) -> None:
        self._happens()


async def test_what_a_second_observation_does_not_find_again_stays(world: AuditedWorld) -> None:
    world.network("stray", world.spare)
    findings = await world.findings()
    clock = Meanwhile(lambda: world.http.delete("/v1/networks/stray"))
    [repaired] = await world.repair(findings, clock=clock)
    assert (repaired.outcome, repaired.sentence) == (REFUSED, "A second observation did not find it again.")
    assert await world.value("SELECT count(*) FROM repairs") == 0


async def test_a_controller_that_lost_much_is_not_believed(world: AuditedWorld) -> None:
    world.remove_allocation()
    for number in range(2):
        world.network(f"stray-{number}", world.spares[number])
    findings = await world.findings()
    assert len(findings) == 3
    assert {each.outcome for each in await world.repair(findings, repair_limit=2)} == {REFUSED}
    assert len(await world.findings()) == 3
    repaired = await world.repair(findings, repair_limit=3)
    assert {each.outcome for each in repaired} == {REPAIRED, LEFT}


async def test_a_worker_records_again_how_to_log_in(world: AuditedWorld) -> None:
    port = await world.value("SELECT ssh_port FROM poplar_servers")
    plant(world.scratch.superuser_url, ["UPDATE poplar_servers SET ssh_port = NULL"], {})
    [repaired] = await world.repair(await world.findings())
    assert repaired.operation_id is not None
    async with world.worker():
        await world.succeeded(repaired.operation_id)
    assert await world.value("SELECT ssh_port FROM poplar_servers") == port
    assert await rules_broken(world) == set()


async def test_a_worker_undoes_what_is_overdue(world: AuditedWorld) -> None:
    accepted = await world.create("second", "m2000-pod4")
    overdue = "UPDATE operations SET deadline_at = app_now() - interval '1 hour' WHERE finished_at IS NULL"
    plant(world.scratch.superuser_url, [overdue, "UPDATE work SET run_at = app_now() + interval '1 day'"], {})
    [repaired] = await world.repair(await world.findings())
    assert (repaired.finding.rule.name, repaired.operation_id) == ("operation_ends_in_time", accepted.operation_id)
    async with world.worker():
        assert (await world.finished(accepted.operation_id)).error["code"] == "deadline_exceeded"
    assert await rules_broken(world) == set()


async def test_a_worker_cleans_up_after_a_cluster_that_is_gone(world: AuditedWorld) -> None:
    """Its machines come back to the pool and to the quota only when the site showed them clean."""
    async with world.worker():
        await world.finished(await world.delete(world.in_use))
    lost = [
        "UPDATE allocations SET freed_at = NULL",
        "UPDATE quotas SET used = 1 WHERE region = 'luxembourg-2'",
        *SETTLED,
    ]
    plant(world.scratch.superuser_url, lost, {})
    world.allocate(world.name, world.machine)
    repaired = await world.repair(await world.findings())
    assert [each.finding.rule.name for each in repaired] == ["gone_cluster_holds_nothing"]
    [operation] = [each.operation_id for each in repaired]
    assert operation is not None
    async with world.worker():
        ended = await world.finished(operation)
    assert (ended.kind, ended.state) == ("cluster.repair", "succeeded")
    assert world.vipu.allocations() == {}
    assert await rules_broken(world) == set()


def test_every_rule_about_sites_is_broken_here() -> None:
    broken = {corruption.rule for corruption in CORRUPTIONS} | ELSEWHERE
    assert broken == {rule.name for rule in SITE_RULES}
