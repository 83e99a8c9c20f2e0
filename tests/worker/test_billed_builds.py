"""Billing from the request, while a worker builds: whatever happens, one cluster is billed once or not at all."""

from __future__ import annotations

import pytest

from tests.support.breakable import held, open_breakable_world
from tests.support.catalogues import billed_from_the_request
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

SITE = {"machines": 4}
WORLD = open_breakable_world

OPEN = "SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL"
BILLED = "SELECT count(*) FROM usage_intervals WHERE ended_at IS DISTINCT FROM started_at"
EVER = "SELECT count(*) FROM usage_intervals"
ANNOUNCED = "UPDATE clusters SET state_sla_seconds = :seconds"
FROM_THE_REQUEST = """
SELECT min(u.started_at) <= CAST(:accepted_at AS timestamptz)
  FROM usage_intervals u JOIN clusters c ON c.id = u.resource_id
 WHERE u.ended_at IS DISTINCT FROM u.started_at
"""


@pytest.fixture
def world(world: SiteWorld) -> SiteWorld:
    world.catalogue = billed_from_the_request(world.catalogue)
    return world


@pytest.mark.parametrize("late", [False, True])
async def test_a_build_that_takes_other_hardware_is_billed_once(world: SiteWorld, late: bool) -> None:
    creation = await world.create()
    assert await world.value(OPEN) == 1
    accepted_at = await world.value("SELECT app_now()")
    await world.execute(ANNOUNCED, seconds=0 if late else 3600)
    [broken] = await held(world, "machine")
    world.http.post(f"/v1/machines/{broken}:fail").raise_for_status()
    async with world.worker():
        await world.succeeded(creation)
    assert await held(world, "machine") != [broken]
    assert await world.value(OPEN) == 1
    assert await world.value(EVER) >= 2 if late else await world.value(FROM_THE_REQUEST, accepted_at=accepted_at)
    assert await world.findings() == []


@pytest.mark.parametrize("late", [False, True])
async def test_a_build_that_fails_is_not_billed(world: SiteWorld, late: bool) -> None:
    creation = await world.create(flavor="m2000-pod16")
    await world.execute(ANNOUNCED, seconds=0 if late else 3600)
    world.fault(call="vipu.CreatePartition", action="status", grpc_status="INVALID_ARGUMENT", times=1)
    async with world.worker():
        assert (await world.finished(creation)).state == "failed"
    assert (await world.value(BILLED), await world.value(EVER)) == (0, 1)
    assert await world.findings() == []


async def test_a_build_that_is_cancelled_is_not_billed(world: SiteWorld) -> None:
    creation = await world.create()
    world.fault(call="vipu.CreatePartition", action="status", grpc_status="UNAVAILABLE")
    async with world.worker():
        await world.reached(creation, "create_partition")
        assert await world.cancel(creation)
        world.clear_faults()
        assert (await world.finished(creation)).state == "cancelled"
    assert (await world.value(BILLED), await world.value(EVER)) == (0, 1)
    assert await world.findings() == []
