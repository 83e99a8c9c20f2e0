"""What operators ask a simulated site to break: a worker asks the site, as often as it must, and says how it went."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from ipucloud.contract.simulated_faults import SimulatedFaultCreate
from ipucloud.inventory import simulated_faults
from ipucloud.inventory.simulated_faults import carry_out_simulated_faults
from ipucloud.inventory.sync import sync
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, Problem
from ipucloud.kernel.ids import new_id
from ipucloud.site.connect import SiteClients
from tests.support.ports import free_ports
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite, running_site
from tests.support.world import SiteWorld, open_site_world

pytestmark = pytest.mark.anyio

REGION = "luxembourg-2"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=2, options=["--servers", "1"]) as site:
        yield site


@pytest.fixture
async def world(database: Scratch, site: RunningSite) -> AsyncIterator[SiteWorld]:
    async with open_site_world(database, site) as world:
        yield world


@asynccontextmanager
async def clients(site: RunningSite, *, url: str | None = None) -> AsyncIterator[SiteClients]:
    opened = site.clients(url=url)
    try:
        yield opened
    finally:
        await opened.close()


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


async def carry_out(world: SiteWorld, site: RunningSite, url: str | None = None) -> None:
    async with clients(site, url=url) as opened:
        await carry_out_simulated_faults(opened.simulation, world.database)


def health(site: RunningSite, machine: str) -> str:
    value: str = site.http().get(f"/redfish/v1/Systems/{machine}").json()["Status"]["Health"]
    return value


async def test_hardware_breaks_and_is_repaired_and_nothing_is_done_twice(world: SiteWorld, site: RunningSite) -> None:
    async with clients(site) as opened:
        await sync(world.database, opened, validated=False)
    region = site.region(REGION)
    machine, host = region.pods[0].machines[0].name, region.hosts[0].name
    broken = await ask(world, "machine", machine)
    faults = [broken, await ask(world, "host", host), await ask(world, "link", machine, "next")]
    slow = await ask(world, "controllers", REGION)
    assert await state_of(world, broken) == ("requested", None)
    await carry_out(world, site)
    assert {await state_of(world, each) for each in [*faults, slow]} == {("in_force", None)}
    assert health(site, machine) == "Critical"
    rules = [rule["id"] for rule in site.http().get("/v1/faults").json()["faults"]]
    assert rules == [f"{slow}-vipu", f"{slow}-admin"]

    # A worker that was killed before it recorded the answer asks again.
    await world.execute("UPDATE simulated_faults SET state = 'requested'")
    await carry_out(world, site)
    assert [rule["id"] for rule in site.http().get("/v1/faults").json()["faults"]] == rules

    for each in [*faults, slow]:
        await end(world, each)
        await end(world, each)
    await carry_out(world, site)
    assert {await state_of(world, each) for each in [*faults, slow]} == {("ended", None)}
    assert health(site, machine) == "OK"
    assert site.http().get("/v1/faults").json()["faults"] == []


async def test_a_site_that_does_not_answer_is_asked_again(world: SiteWorld, site: RunningSite) -> None:
    async with clients(site) as opened:
        await sync(world.database, opened, validated=False)
    machine = site.region(REGION).pods[0].machines[1].name
    fault = await ask(world, "machine", machine)
    await carry_out(world, site, f"http://127.0.0.1:{free_ports(1)[0]}")
    state, detail = await state_of(world, fault)
    assert state == "requested"
    assert detail is not None
    assert detail.endswith("the site cannot be reached; it is asked again")
    await end(world, fault)
    await carry_out(world, site)
    assert await state_of(world, fault) == ("ended", None)


@pytest.mark.parametrize(
    ("kind", "name", "link", "pointers"),
    [
        ("machine", "nowhere", None, ["/name"]),
        ("link", "nowhere", None, ["/name", "/link"]),
        ("controllers", "nowhere", "next", ["/name", "/link"]),
    ],
)
async def test_only_what_is_known_can_break(
    world: SiteWorld, kind: str, name: str, link: str | None, pointers: list[str]
) -> None:
    with pytest.raises(Problem) as refused:
        await ask(world, kind, name, link)
    assert refused.value.kind is VALIDATION_FAILED
    assert [error.pointer for error in refused.value.errors] == pointers


async def test_nothing_breaks_where_the_hardware_is_real(world: SiteWorld, site: RunningSite) -> None:
    await world.execute("UPDATE site_regions SET simulated = false")
    with pytest.raises(Problem, match="not simulated") as refused:
        await ask(world, "machine", site.region(REGION).pods[0].machines[0].name)
    assert refused.value.kind is STATE_CONFLICT
    async with clients(site) as opened:
        await sync(world.database, opened, validated=False)
    fault = await ask(world, "controllers", REGION)
    with pytest.raises(Problem, match="breaks it already"):
        await ask(world, "controllers", REGION)
    await end(world, fault)
