"""A create or resume whose machine or host fails goes on with another one, which the operation names."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.breakable import held, open_breakable_world
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

SITE = {"machines": 4}
WORLD = open_breakable_world

REPORTED = """
SELECT coalesce(m.name, h.name) FROM health_reports r LEFT JOIN machines m ON m.id = r.machine_id
  LEFT JOIN hosts h ON h.id = r.host_id
 WHERE r.code = 'build_failed' AND r.cleared_at IS NULL AND NOT coalesce(m.allocatable, h.allocatable) ORDER BY 1
"""

BEGUN_LONG_AGO = """
UPDATE operation_steps SET started_at = app_now() - interval '1 hour'
 WHERE operation_id = :operation AND name = 'power_on_machines'
"""


async def failed_steps(world: SiteWorld, operation: Any) -> list[str]:
    return await world.column(
        "SELECT concat(name, ': ', detail) FROM operation_steps WHERE operation_id = :id AND state = 'failed'",
        id=operation.operation_id,
    )


async def assert_rebuilt(world: SiteWorld, cluster: Any, incarnation: int) -> None:
    """In use under this incarnation's name, with nothing left of an earlier one and the quota counted once."""
    name = await world.external_name(cluster)
    assert name.endswith(f"-{incarnation}")
    assert [network["name"] for network in world.http.get("/v1/networks").json()["networks"]] == [name]
    assert world.partitions() == [name]
    row = await world.one("SELECT state, machines, blocked_by FROM clusters WHERE id = :id", id=cluster)
    assert (row.state, row.blocked_by) == ("active", None)
    assert await world.value("SELECT sum(used) FROM quotas") == row.machines
    assert await world.value("SELECT count(*) FROM usage_intervals WHERE resource_id = :id", id=cluster) >= 1
    assert await world.findings() == []


async def test_a_machine_that_never_finishes_switching_on_is_replaced(world: SiteWorld) -> None:
    accepted = await world.create()
    [machine] = await held(world, "machine")
    world.http.post(f"/v1/machines/{machine}:hang").raise_for_status()
    await world.execute(BEGUN_LONG_AGO, operation=accepted.operation_id)
    async with world.worker(isolation_after=0.05):
        await world.succeeded(accepted)
        assert machine not in await held(world, "machine")
        assert f"machine {machine} did not switch on within" in "".join(await failed_steps(world, accepted))
        assert machine in await world.column(REPORTED)


BREAKS = {
    "power": ("machine", "power_on_machines", "{}:fail", "machine {0} failed"),
    "link": (
        "machine",
        "test_cluster",
        "{}/links/internal:fail",
        "the internal link between machines {0} and {0} is down",
    ),
    "host": ("host", "deploy_poplar_servers", "{}:fail", "host {0} failed"),
}


@pytest.mark.parametrize("what", BREAKS)
async def test_a_create_goes_on_with_other_hardware(world: SiteWorld, what: str) -> None:
    kind, step, path, sentence = BREAKS[what]
    creation = await world.create()
    [broken] = await held(world, kind)
    world.http.post(f"/v1/{kind}s/{path.format(broken)}", json={"state": "down"}).raise_for_status()
    async with world.worker(isolation_after=0.05):
        await world.succeeded(creation)
        assert await held(world, kind) != [broken]
        await assert_rebuilt(world, creation.target_id, 2)
        assert await world.column(REPORTED) == [broken]
        [failed] = await failed_steps(world, creation)
        assert failed.startswith(step)
        assert sentence.format(broken) in failed
        event = await world.value("SELECT data FROM events WHERE type = 'cluster.hardware_replaced'")
        assert event[f"{kind}s"] == [broken]
        assert len(event["machines"] + event["hosts"]) == 1
        await world.build("next")
        assert broken not in await held(world, kind)


async def test_a_create_without_other_machines_says_so(world: SiteWorld) -> None:
    creation = await world.create(flavor="m2000-pod16")
    broken = (await held(world, "machine"))[1]
    world.http.post(f"/v1/machines/{broken}:fail").raise_for_status()
    async with world.worker():
        operation = await world.finished(creation)
    assert (operation.state, operation.error["code"]) == ("failed", "capacity_exhausted")
    assert f"machine {broken} failed. No other healthy hardware is free: " in operation.error["detail"]
    assert "again" not in operation.error["detail"].partition("No other healthy hardware")[0]
    assert await world.column(REPORTED) == [broken]


async def test_more_hardware_than_the_limit_is_left_to_an_operator(world: SiteWorld) -> None:
    creation = await world.create()
    [broken] = await held(world, "machine")
    world.http.post(f"/v1/machines/{broken}:fail").raise_for_status()
    async with world.worker(isolation_limit=0):
        operation = await world.finished(creation)
    assert (operation.state, operation.error["code"]) == ("failed", "provisioning_failed")
    assert f"machine {broken} failed. So much hardware of the region was replaced" in operation.error["detail"]
    assert await world.column(REPORTED) == []


async def test_a_resume_goes_on_with_another_machine(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        server = await world.one("SELECT name, host_key FROM poplar_servers")
        await world.succeeded(await world.suspend(cluster))
    resumed = await world.resume(cluster)
    [broken] = await held(world, "machine")
    world.http.post(f"/v1/machines/{broken}:fail").raise_for_status()
    async with world.worker():
        await world.succeeded(resumed)
        assert await held(world, "machine") != [broken]
        await assert_rebuilt(world, cluster, 3)
        assert await world.one("SELECT name, host_key FROM poplar_servers") == server
