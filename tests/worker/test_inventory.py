"""Hardware at a site that is not what an operator expects: it is found, and new clusters do not get it."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from ipucloud.admin.inventory import accept_shown
from ipucloud.contract.operator_inventory import InventoryAccept
from tests.support.site import RunningSite
from tests.support.world import SiteWorld, open_site_world
from tests.worker.test_observation import REGION, live, observe, offered

pytestmark = pytest.mark.anyio

SITE = {"machines": 16, "options": ["--machines-on"]}
WORLD = open_site_world

DIFFERS = "SELECT name, code FROM inventory_findings ORDER BY name, code"


@pytest.fixture
def world(world: SiteWorld) -> Iterator[SiteWorld]:
    yield world
    for each in world.http.get("/v1/hardware").json()["hardware"]:
        world.http.delete(f"/v1/hardware/{each['name']}").raise_for_status()


@pytest.fixture
def names(site: RunningSite) -> list[str]:
    return [machine.name for machine in site.region(REGION).pods[0].machines]


def show(world: SiteWorld, name: str, **shown: object) -> None:
    """Let the site show something else of a machine or host."""
    world.http.put(f"/v1/hardware/{name}", json=shown).raise_for_status()


async def accept_everything(world: SiteWorld) -> None:
    """Expect what the site shows now."""
    body = InventoryAccept(everything=True, reason="as shown")
    async with world.database.begin() as connection:
        await accept_shown(connection, REGION, body, token=str(uuid4()))


async def differing(world: SiteWorld) -> list[tuple[str, str]]:
    return [(row.name, row.code) for row in await world.rows(DIFFERS)]


@pytest.mark.acceptance("BFX03-01")
async def test_a_part_that_was_exchanged_is_in_its_machines_history(world: SiteWorld, names: list[str]) -> None:
    await observe(world)
    serials = "SELECT part_serials::json FROM shown_hardware WHERE name = :name"
    before = await world.value(serials, name=names[6])
    assert sorted(before) == ["board", "ipu-0", "ipu-1", "ipu-2", "ipu-3", "rnic"]
    assert len(set(before.values())) == len(before)
    show(world, names[6], part_serials={"ipu-2": "GC-NEW"})
    await observe(world)
    assert await world.value(serials, name=names[6]) == before | {"ipu-2": "GC-NEW"}
    changed = "SELECT detail FROM hardware_events WHERE name = :name AND type = 'serial_changed'"
    assert await world.column(changed, name=names[6]) == [f"serial of ipu-2 {before['ipu-2']} became GC-NEW"]


@pytest.mark.acceptance("HWING01-01", "HWING02-01", "RESDB01-01")
async def test_hardware_that_is_not_as_expected_is_found_and_withheld(world: SiteWorld, names: list[str]) -> None:
    await observe(world)
    await accept_everything(world)
    assert await differing(world) == []
    [host, *_] = await world.column("SELECT name FROM hosts WHERE region = :region ORDER BY name", region=REGION)
    show(world, names[1], serial_number="GC-NEW")
    show(world, names[2], model="Bow-2000")
    show(world, names[3], firmware="2.7.0")
    show(world, names[4], hidden=True)
    show(world, names[5], pod="lux2-p001", slot=6)
    show(world, "lux2-x001", region=REGION)
    show(world, host, serial_number="H-NEW")
    for _ in range(2):
        await observe(world)
    assert await differing(world) == [
        (host, "wrong_serial"),
        (names[1], "wrong_serial"),
        (names[2], "wrong_model"),
        (names[3], "firmware_differs"),
        (names[4], "missing"),
        (names[5], "cabling"),
        ("lux2-x001", "surplus"),
    ]
    assert await offered(world) == set(names) - {names[1], names[2], names[3], names[4], names[5]}
    reports = {(name, code) for name, code, confirmed in await live(world) if confirmed}
    withheld = {(host, "wrong_serial"), (names[1], "wrong_serial"), (names[2], "wrong_model"), (names[5], "cabling")}
    assert reports - {(names[3], "firmware_differs"), (names[4], "not_observed")} == withheld
    codes_of_events = "SELECT data ->> 'code' FROM events WHERE type = :type ORDER BY 1"
    codes = sorted(code for _, code in withheld)
    assert await world.column(codes_of_events, type="inventory.differs") == codes
    events = await world.rows("SELECT name, type FROM hardware_events ORDER BY name, type")
    assert {(row.name, row.type) for row in events} >= {
        (names[1], "serial_changed"),
        (names[2], "model_changed"),
        (names[3], "firmware_changed"),
        (names[5], "moved"),
    }
    await accept_everything(world)
    assert await differing(world) == []
    for _ in range(3):
        await observe(world)
    assert await world.column(codes_of_events, type="inventory.agrees") == codes
    assert {(name, code) for name, code, _ in await live(world)} == {
        (names[3], "firmware_differs"),
        (names[4], "not_observed"),
    }


async def test_an_unchanged_reading_writes_nothing(world: SiteWorld) -> None:
    rows = "SELECT name, xmin::text FROM shown_hardware UNION ALL SELECT kind, xmin::text FROM shown_inventories"
    await observe(world)
    before = {tuple(row) for row in await world.rows(rows)}
    assert len(before) > 32
    await observe(world)
    assert {tuple(row) for row in await world.rows(rows)} == before
