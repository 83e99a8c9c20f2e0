"""What operators ask a simulated site to break: a worker asks the site, as often as it must, and says how it went."""

from __future__ import annotations

from uuid import UUID

import pytest

from ipucloud.contract.simulated_faults import SimulatedFaultCreate
from ipucloud.inventory import simulated_faults
from ipucloud.inventory.simulated_faults import carry_out_simulated_faults
from ipucloud.inventory.sync import sync
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED
from ipucloud.kernel.ids import new_id
from tests.support.ports import free_ports
from tests.support.world import SiteWorld, open_site_world
from tests.worker.customers import refused

pytestmark = pytest.mark.anyio

WORLD = open_site_world

REGION = "luxembourg-2"


async def ask(world: SiteWorld, kind: str, name: str, link: str | None = None) -> UUID:
    body = SimulatedFaultCreate.model_validate({"kind": kind, "name": name, "link": link})
    async with world.database.begin() as connection:
        return await simulated_faults.request(connection, body, created_by=new_id())


async def end(world: SiteWorld, fault: UUID) -> None:
    async with world.database.begin() as connection:
        await simulated_faults.end(connection, fault)


async def state_of(world: SiteWorld, fault: UUID) -> tuple[str, str | None]:
    [row] = await world.rows("SELECT state, detail FROM simulated_faults WHERE id = :id", id=fault)
    return row.state, row.detail


async def carry_out(world: SiteWorld, url: str | None = None) -> None:
    clients = world.site.clients(url=url)
    await carry_out_simulated_faults(clients.simulation, world.database)
    await clients.close()


def health(world: SiteWorld, machine: str) -> str:
    value: str = world.http.get(f"/redfish/v1/Systems/{machine}").json()["Status"]["Health"]
    return value


async def test_hardware_breaks_and_is_repaired_and_nothing_is_done_twice(world: SiteWorld) -> None:
    await sync(world.database, world.sites, validated=False)
    region = world.site.region(REGION)
    machine, host = region.pods[0].machines[0].name, region.hosts[0].name
    broken = await ask(world, "machine", machine)
    faults = [broken, await ask(world, "host", host), await ask(world, "link", machine, "next")]
    slow = await ask(world, "controllers", REGION)
    assert await state_of(world, broken) == ("requested", None)
    await carry_out(world)
    assert {await state_of(world, each) for each in [*faults, slow]} == {("in_force", None)}
    assert health(world, machine) == "Critical"
    rules = [rule["id"] for rule in world.http.get("/v1/faults").json()["faults"]]
    assert rules == [f"{slow}-vipu", f"{slow}-admin"]

    # A worker that was killed before it recorded the answer asks again.
    await world.execute("UPDATE simulated_faults SET state = 'requested'")
    await carry_out(world)
    assert [rule["id"] for rule in world.http.get("/v1/faults").json()["faults"]] == rules

    for each in [*faults, slow]:
        await end(world, each)
        await end(world, each)
    await carry_out(world)
    assert {await state_of(world, each) for each in [*faults, slow]} == {("ended", None)}
    assert health(world, machine) == "OK"
    assert world.http.get("/v1/faults").json()["faults"] == []


async def test_a_site_that_does_not_answer_is_asked_again(world: SiteWorld) -> None:
    await sync(world.database, world.sites, validated=False)
    machine = world.site.region(REGION).pods[0].machines[1].name
    fault = await ask(world, "machine", machine)
    await carry_out(world, f"http://127.0.0.1:{free_ports(1)[0]}")
    state, detail = await state_of(world, fault)
    assert state == "requested"
    assert detail is not None
    assert detail.endswith("the site cannot be reached; it is asked again")
    await end(world, fault)
    await carry_out(world)
    assert await state_of(world, fault) == ("ended", None)


async def test_only_what_is_known_can_break(world: SiteWorld) -> None:
    for kind, link, pointers in (
        ("machine", None, ["/name"]),
        ("link", None, ["/name", "/link"]),
        ("controllers", "next", ["/name", "/link"]),
    ):
        problem = await refused(ask(world, kind, "nowhere", link))
        assert (problem.kind, [error.pointer for error in problem.errors]) == (VALIDATION_FAILED, pointers)


async def test_nothing_breaks_where_the_hardware_is_real(world: SiteWorld) -> None:
    await world.execute("UPDATE site_regions SET simulated = false")
    problem = await refused(ask(world, "machine", world.site.region(REGION).pods[0].machines[0].name))
    assert (problem.kind, "not simulated" in str(problem)) == (STATE_CONFLICT, True)
    await sync(world.database, world.sites, validated=False)
    fault = await ask(world, "controllers", REGION)
    assert "breaks it already" in str(await refused(ask(world, "controllers", REGION)))
    await end(world, fault)
