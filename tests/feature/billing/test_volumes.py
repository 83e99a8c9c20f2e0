"""Volumes and snapshots in the ledger, in reports and in FOCUS files: GiB-minutes of resources of their own."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from uuid import UUID

import pytest

from ipucloud.billing.metering.intervals import close_stored, open_stored
from ipucloud.clusters.volumes.record import lock, move
from ipucloud.contract.exports import FocusVersion
from ipucloud.contract.volumes import VolumeState
from tests.feature.billing.books import Books, at
from tests.feature.billing.exports.ledgers import APRIL, csv_of, selection
from tests.support.factories import make_price
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

PRICE = Decimal("0.0000022831")
HALF = Decimal("0.0000011416")
SKU = "volume-gib"
_MADE = """
INSERT INTO volumes (id, project_id, name, tags, region, external_name, size_gib, sku, currency, created_by)
VALUES (gen_random_uuid(), :project, 'data', '{"team": "nlp"}', 'luxembourg-2', 'data-1', 100, 'volume-gib', 'EUR',
        gen_random_uuid()) RETURNING id
"""


_COPIED = """
INSERT INTO snapshots (id, project_id, volume_id, name, region, external_name, size_gib, sku, currency, created_by)
VALUES (gen_random_uuid(), :project, :volume, 'before', 'luxembourg-2', 'before-1', 100, 'snapshot-gib', 'EUR',
        gen_random_uuid())
"""


async def made(books: Books) -> UUID:
    async with books.database.begin() as connection:
        await make_price(connection, SKU, "luxembourg-2", PRICE)
    found = await books.rows(_MADE.replace(":project", f"'{books.project.id}'"))
    return UUID(str(found[0].id))


async def enters(books: Books, volume: UUID, state: VolumeState, instant: str, *, gib: int = 100) -> None:
    """As a worker or a request has it enter a state at an instant."""
    books.now(at(instant))
    async with books.database.begin() as connection:
        mine = {"project_id": books.project.id, "resource_id": volume}
        found = await lock(connection, project_id=books.project.id, volume_id=volume)
        if state is VolumeState.RESIZING:
            await move(connection, found._replace(wanted_gib=gib), state)
            return
        await move(connection, found._replace(size_gib=gib, wanted_gib=None), state)
        await close_stored(connection, **mine)
        if state is VolumeState.AVAILABLE:
            await open_stored(connection, **mine)


async def test_each_minute_is_charged_for_the_size_at_its_beginning(books: Books, database: Scratch) -> None:
    volume = await made(books)
    await enters(books, volume, VolumeState.AVAILABLE, "2026-04-10T10:00:20")
    await enters(books, volume, VolumeState.RESIZING, "2026-04-10T10:30:10", gib=200)
    await enters(books, volume, VolumeState.AVAILABLE, "2026-04-10T10:30:30", gib=200)
    await enters(books, volume, VolumeState.DELETING, "2026-04-10T11:00:20", gib=200)
    await books.keep(at("2026-04-10T11:30:00"))  # the second hour is not closed yet
    for version in FocusVersion:
        chosen = selection(project=books.project.id, month=APRIL, version=version, provisional=True)
        rows = [*csv.DictReader(io.StringIO(csv_of(database.app_url, chosen).decode(), newline=""))]
        assert {row["ResourceId"] for row in rows} == {f"urn:ipu:volume:{volume}"}
        assert {(row["ResourceName"], row["ResourceType"], row["SkuId"]) for row in rows} == {("data", "Volume", SKU)}
        assert {(row["PricingUnit"], row["ConsumedUnit"]) for row in rows} == {("GiB-Minutes", "GiB-Minutes")}
        services = {(row["ServiceCategory"], row["ServiceName"], row["ServiceSubcategory"]) for row in rows}
        assert services == {("Storage", "Volume", "Block Storage")}
        assert {row["SkuPriceDetails"] for row in rows} == {""}
        assert all('"team"' in row["Tags"] for row in rows)
        assert sum(Decimal(row["PricingQuantity"]) for row in rows) == 31 * 100 + 29 * 200
        assert sum(Decimal(row["ConsumedQuantity"]) for row in rows) == 31 * 100 + 29 * 200
        assert sum(Decimal(row["BilledCost"]) for row in rows) == Decimal("0.02031959")
    await books.keep(at("2026-04-10T12:30:00"))
    bill = "SELECT quantity, sum(minutes)::integer, sum(cost) FROM usage_charges WHERE sku = :sku GROUP BY 1 ORDER BY 1"
    assert [tuple(row) for row in await books.rows(bill, sku=SKU)] == [
        (100, 31, PRICE * 31 * 100),
        (200, 29, PRICE * 29 * 200),
    ]
    await books.execute(
        "INSERT INTO tax_rates (id, country, kind, name, rate, valid_from, source)"
        " VALUES (gen_random_uuid(), 'LU', 'standard', 'VAT', 0.17, '2024-01-01', 'test')"
    )
    books.now(at("2026-05-02T00:30:00"))
    while not await books.value("SELECT count(*) FROM invoices"):
        await books.keep()  # so many hours at once
    invoiced = csv_of(database.app_url, selection(project=books.project.id, month=APRIL)).decode()
    rounded = [row for row in csv.DictReader(io.StringIO(invoiced, newline="")) if not row["ResourceId"]]
    services = {(row["ChargeCategory"], row["ServiceCategory"], row["ServiceName"]) for row in rounded}
    assert ("Adjustment", "Storage", "Volume") in services


async def test_a_volume_that_was_never_made_costs_nothing(books: Books) -> None:
    volume = await made(books)
    await enters(books, volume, VolumeState.DELETING, "2026-04-10T10:00:20")
    await books.keep(at("2026-04-10T12:30:00"))
    assert await books.value("SELECT count(*) FROM usage_charges") == 0


async def test_a_snapshot_is_billed_beside_its_volume_and_after_it(books: Books, database: Scratch) -> None:
    volume = await made(books)
    await enters(books, volume, VolumeState.AVAILABLE, "2026-04-10T10:00:20")
    async with books.database.begin() as connection:
        await make_price(connection, "snapshot-gib", "luxembourg-2", HALF)
    await books.execute(_COPIED, project=books.project.id, volume=volume)
    snapshot = UUID(str(await books.value("SELECT id FROM snapshots")))
    mine = {"project_id": books.project.id, "resource_id": snapshot}
    books.now(at("2026-04-10T10:20:00"))
    async with books.database.begin() as connection:
        await open_stored(connection, **mine)
        await open_stored(connection, **mine)  # a worker that repeats it
    await enters(books, volume, VolumeState.DELETING, "2026-04-10T10:30:20")
    books.now(at("2026-04-10T10:50:00"))
    async with books.database.begin() as connection:
        await close_stored(connection, **mine)
    await books.keep(at("2026-04-10T12:30:00"))
    bill = "SELECT sku, resource_id, quantity, sum(minutes)::integer, sum(cost) FROM usage_charges GROUP BY 1, 2, 3"
    assert {tuple(row) for row in await books.rows(bill)} == {
        (SKU, volume, 100, 30, PRICE * 30 * 100),
        ("snapshot-gib", snapshot, 100, 30, HALF * 30 * 100),
    }
    chosen = selection(project=books.project.id, month=APRIL, provisional=True)
    rows = [*csv.DictReader(io.StringIO(csv_of(database.app_url, chosen).decode(), newline=""))]
    shown = {(row["ResourceId"], row["ResourceName"], row["ResourceType"], row["SkuMeter"]) for row in rows}
    assert (f"urn:ipu:snapshot:{snapshot}", "before", "Snapshot", "Snapshot capacity") in shown
    of_it = [row for row in rows if row["ResourceType"] == "Snapshot"]
    assert {(row["ServiceCategory"], row["ServiceName"], row["ConsumedUnit"]) for row in of_it} == {
        ("Storage", "Volume", "GiB-Minutes")
    }
    assert {row["SkuPriceDetails"] for row in of_it} == {""}
