"""What an operator reads about a catalogue and a database that differ."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from ipucloud.billing.pricing.book import install_prices
from ipucloud.catalogue.load import load
from ipucloud.catalogue.queries import Catalogue
from ipucloud.cli.service.catalogue_use import notes
from ipucloud.contract.catalogue import AllocatedThrough
from tests.support.catalogues import with_frankfurt
from tests.support.world import World

pytestmark = pytest.mark.anyio

SOLD = {"m2000", "bow-2000"}


def sold() -> Catalogue:
    """What the world of a test has machines for: pods, and no servers with IPUs of their own."""
    shipped = load()
    return replace(
        shipped,
        regions=tuple(region for region in shipped.regions if region.slug != "lab-1"),
        flavors=tuple(flavor for flavor in shipped.flavors if flavor.machine_type in SOLD),
        prices=tuple(price for price in shipped.prices if price.region != "lab-1"),
    )


async def notes_on(world: World, catalogue: Catalogue, currency: str = "EUR") -> list[str]:
    return await notes(world.database, catalogue, currency)


@pytest.fixture
async def priced(world: World) -> World:
    """The world with the prices that the catalogue has."""
    async with world.database.begin() as connection:
        await install_prices(connection, sold())
    return world


async def test_a_catalogue_that_agrees_gives_no_notes(priced: World) -> None:
    await priced.create("bert", flavor="m2000-pod4")
    assert await notes_on(priced, sold()) == []


async def test_clusters_that_differ_are_counted(priced: World) -> None:
    for name in ("one", "two"):
        await priced.create(name, flavor="m2000-pod4")
    gone = await priced.create("three", flavor="m2000-pod8")
    shipped = sold()
    changed = shipped.flavors[0].model_copy(update={"sku": "ipu-other"})
    without = replace(shipped, flavors=(changed, *shipped.flavors[2:]), images=shipped.images[1:])
    lines = await notes_on(priced, without)
    assert "2 clusters are each a m2000-pod4 in luxembourg-2 in an earlier version. Clusters are unaffected." in lines
    assert "1 cluster is a m2000-pod8 in luxembourg-2, which is not sold there. Clusters are unaffected." in lines
    assert any("with image ubuntu-20.04" in note and "not offered there" in note for note in lines)
    await priced.finish_create(gone.target_id)
    await priced.delete(gone.target_id)
    await priced.finish_delete(gone.target_id)
    assert not any("m2000-pod8" in note for note in await notes_on(priced, without))


async def test_machines_without_flavors_and_flavors_without_machines(priced: World, tmp_path: Path) -> None:
    lines = await notes_on(priced, load(with_frankfurt(tmp_path / "own")))
    assert any(note.startswith("No rack-4 machine is known in frankfurt-1") for note in lines)
    assert any(note.startswith("rack-pod8 has no price in frankfurt-1 in EUR now") for note in lines)
    shipped = sold()
    without = replace(shipped, flavors=tuple(each for each in shipped.flavors if each.machine_type == "m2000"))
    assert "16 bow-2000 machines in amsterdam-2: no flavor sells them." in await notes_on(priced, without)
    servers = tuple(
        each.model_copy(update={"allocated_through": AllocatedThrough.HOST_DEVICES}) for each in shipped.flavors
    )
    lines = await notes_on(priced, replace(shipped, flavors=servers))
    assert "The site has m2000 in luxembourg-2 as v-ipu; the catalogue differs." in lines


async def test_quotas_and_prices(priced: World) -> None:
    shipped = sold()
    regions = tuple(region for region in shipped.regions if region.slug != "luxembourg-2")
    assert "1 quota for m2000 in luxembourg-2, which are not sold there." in await notes_on(
        priced, replace(shipped, regions=regions)
    )
    first, *rest = shipped.prices
    dearer = first.model_copy(update={"unit_price": Decimal("0.07")})
    assert await notes_on(priced, replace(shipped, prices=(dearer, *rest))) == [
        "ipu-m2000 in luxembourg-2 costs 0.0625 EUR in the price book, which applies, and 0.07 EUR in the catalogue."
    ]
    [note] = await notes_on(priced, replace(shipped, articles=shipped.articles[1:]))
    assert note.startswith("volume-gib has a price but is not in the catalogue")
    dollars = await notes_on(priced, shipped, "USD")
    assert len(dollars) == len(shipped.flavors)
    assert dollars[0].startswith("m2000-pod4 has no price in luxembourg-2 in USD now")
