"""Volumes and snapshots in the ledger, in reports and in FOCUS files: GiB-minutes of resources of their own."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from uuid import UUID

import pytest

from ipucloud.billing.metering.intervals import close_stored, open_stored
from ipucloud.clusters.volumes.record import VOLUMES
from ipucloud.contract.exports import FocusVersion
from ipucloud.contract.volumes import VolumeState
from tests.feature.billing.exports.ledgers import APRIL, csv_of, selection
from tests.feature.billing.world import BillingWorld, at
from tests.support.factories import make_price
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

PRICE = Decimal("0.0000022831")
HALF = Decimal("0.0000011416")
SKU = "volume-gib"
_INSERT = """
INSERT INTO volumes (id, project_id, name, tags, region, external_name, size_gib, sku, currency, created_by)
VALUES (gen_random_uuid(), :project, 'data', '{"team": "nlp"}', 'luxembourg-2', 'data-1', 100, 'volume-gib', 'EUR',
        gen_random_uuid()) RETURNING id
"""


_COPIED = """
INSERT INTO snapshots (id, project_id, volume_id, name, region, external_name, size_gib, sku, currency, created_by)
VALUES (gen_random_uuid(), :project, :volume, 'before', 'luxembourg-2', 'before-1', 100, 'snapshot-gib', 'EUR',
        gen_random_uuid())
"""


async def make_volume(billing: BillingWorld) -> UUID:
    async with billing.database.begin() as connection:
        await make_price(connection, SKU, "luxembourg-2", PRICE)
    rows = await billing.rows(_INSERT.replace(":project", f"'{billing.project.id}'"))
    return UUID(str(rows[0].id))


async def enters(billing: BillingWorld, volume: UUID, state: VolumeState, instant: str, *, gib: int = 100) -> None:
    """As a worker or a request has it enter a state at an instant."""
    billing.now(at(instant))
    async with billing.database.begin() as connection:
        owner = {"project_id": billing.project.id, "resource_id": volume}
        row = await VOLUMES.lock(connection, billing.project.id, volume)
        if state is VolumeState.RESIZING:
            await VOLUMES.move(connection, row._replace(wanted_gib=gib), state)
            return
        await VOLUMES.move(connection, row._replace(size_gib=gib, wanted_gib=None), state)
        await close_stored(connection, **owner)
        if state is VolumeState.AVAILABLE:
            await open_stored(connection, **owner)


async def test_each_minute_is_charged_for_the_size_at_its_beginning(billing: BillingWorld, database: Scratch) -> None:
    volume = await make_volume(billing)
    await enters(billing, volume, VolumeState.AVAILABLE, "2026-04-10T10:00:20")
    await enters(billing, volume, VolumeState.RESIZING, "2026-04-10T10:30:10", gib=200)
    await enters(billing, volume, VolumeState.AVAILABLE, "2026-04-10T10:30:30", gib=200)
    await enters(billing, volume, VolumeState.DELETING, "2026-04-10T11:00:20", gib=200)
    await billing.keep(at("2026-04-10T11:30:00"))  # the second hour is not closed yet
    for version in FocusVersion:
        chosen = selection(project=billing.project.id, month=APRIL, version=version, provisional=True)
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
    await billing.keep(at("2026-04-10T12:30:00"))
    bill = "SELECT quantity, sum(minutes)::integer, sum(cost) FROM usage_charges WHERE sku = :sku GROUP BY 1 ORDER BY 1"
    assert [tuple(row) for row in await billing.rows(bill, sku=SKU)] == [
        (100, 31, PRICE * 31 * 100),
        (200, 29, PRICE * 29 * 200),
    ]
    await billing.execute(
        "INSERT INTO tax_rates (id, country, kind, name, rate, valid_from, source)"
        " VALUES (gen_random_uuid(), 'LU', 'standard', 'VAT', 0.17, '2024-01-01', 'test')"
    )
    billing.now(at("2026-05-02T00:30:00"))
    while not await billing.value("SELECT count(*) FROM invoices"):
        await billing.keep()  # so many hours at once
    invoiced = csv_of(database.app_url, selection(project=billing.project.id, month=APRIL)).decode()
    rounded = [row for row in csv.DictReader(io.StringIO(invoiced, newline="")) if not row["ResourceId"]]
    services = {(row["ChargeCategory"], row["ServiceCategory"], row["ServiceName"]) for row in rounded}
    assert ("Adjustment", "Storage", "Volume") in services


async def test_a_volume_that_was_never_made_costs_nothing(billing: BillingWorld) -> None:
    volume = await make_volume(billing)
    await enters(billing, volume, VolumeState.DELETING, "2026-04-10T10:00:20")
    await billing.keep(at("2026-04-10T12:30:00"))
    assert await billing.value("SELECT count(*) FROM usage_charges") == 0


async def test_a_snapshot_is_billed_beside_its_volume_and_after_it(billing: BillingWorld, database: Scratch) -> None:
    volume = await make_volume(billing)
    await enters(billing, volume, VolumeState.AVAILABLE, "2026-04-10T10:00:20")
    async with billing.database.begin() as connection:
        await make_price(connection, "snapshot-gib", "luxembourg-2", HALF)
    await billing.execute(_COPIED, project=billing.project.id, volume=volume)
    snapshot = UUID(str(await billing.value("SELECT id FROM snapshots")))
    owner = {"project_id": billing.project.id, "resource_id": snapshot}
    billing.now(at("2026-04-10T10:20:00"))
    async with billing.database.begin() as connection:
        await open_stored(connection, **owner)
        await open_stored(connection, **owner)  # a worker that repeats it
    await enters(billing, volume, VolumeState.DELETING, "2026-04-10T10:30:20")
    billing.now(at("2026-04-10T10:50:00"))
    async with billing.database.begin() as connection:
        await close_stored(connection, **owner)
    await billing.keep(at("2026-04-10T12:30:00"))
    bill = "SELECT sku, resource_id, quantity, sum(minutes)::integer, sum(cost) FROM usage_charges GROUP BY 1, 2, 3"
    assert {tuple(row) for row in await billing.rows(bill)} == {
        (SKU, volume, 100, 30, PRICE * 30 * 100),
        ("snapshot-gib", snapshot, 100, 30, HALF * 30 * 100),
    }
    chosen = selection(project=billing.project.id, month=APRIL, provisional=True)
    rows = [*csv.DictReader(io.StringIO(csv_of(database.app_url, chosen).decode(), newline=""))]
    shown = {(row["ResourceId"], row["ResourceName"], row["ResourceType"], row["SkuMeter"]) for row in rows}
    assert (f"urn:ipu:snapshot:{snapshot}", "before", "Snapshot", "Snapshot capacity") in shown
    of_it = [row for row in rows if row["ResourceType"] == "Snapshot"]
    assert {(row["ServiceCategory"], row["ServiceName"], row["ConsumedUnit"]) for row in of_it} == {
        ("Storage", "Volume", "GiB-Minutes")
    }
    assert {row["SkuPriceDetails"] for row in of_it} == {""}
