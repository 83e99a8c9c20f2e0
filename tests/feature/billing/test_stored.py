"""What is billed beside ordinary clusters, in the ledger, in invoices and in FOCUS files: volumes, snapshots, addresses
and preemptible clusters, each at a price of its own."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

import pytest
import sqlalchemy as sa

from ipucloud.billing.metering.intervals import close_stored, open_stored
from ipucloud.billing.metering.tables import usage_intervals
from ipucloud.clusters.volumes.record import VOLUMES
from ipucloud.contract.exports import FocusVersion
from ipucloud.contract.volumes import VolumeState
from ipucloud.kernel.ids import new_id
from tests.feature.billing.exports.ledgers import APRIL, Rows, csv_of, rows_of, selection
from tests.feature.billing.exports.test_files import summed
from tests.feature.billing.invoices.customers import taxed
from tests.feature.billing.world import REGION, SKU, BillingWorld, at
from tests.support.postgres import Database as Scratch
from tests.support.preemptible import PREEMPTIBLE

pytestmark = pytest.mark.anyio

VOLUME, SNAPSHOT, ADDRESS = Decimal("0.0000022831"), Decimal("0.0000011416"), Decimal("0.0000684932")
_VOLUME = """
INSERT INTO volumes (id, project_id, name, tags, region, external_name, size_gib, sku, currency, created_by)
VALUES (:id, :project, 'data', '{"team": "nlp"}', 'luxembourg-2', 'data-1', 100, 'volume-gib', 'EUR',
        gen_random_uuid())
"""
_SNAPSHOT = """
INSERT INTO snapshots (id, project_id, volume_id, name, region, external_name, size_gib, sku, currency, created_by)
VALUES (:id, :project, (SELECT id FROM volumes), 'before', 'luxembourg-2', 'before-1', 100, 'snapshot-gib', 'EUR',
        gen_random_uuid())
"""
_ADDRESS = """
INSERT INTO addresses (id, project_id, name, tags, region, external_name, sku, currency, created_by)
VALUES (:id, :project, 'frontdoor', '{"team": "nlp"}', 'luxembourg-2', 'frontdoor-1', 'address', 'EUR',
        gen_random_uuid())
"""
BILL = "SELECT sku, resource_id, quantity, sum(minutes)::integer, sum(cost) FROM usage_charges GROUP BY 1, 2, 3"
CELLS = (
    "ResourceId",
    "ResourceName",
    "ResourceType",
    "SkuId",
    "SkuMeter",
    "SkuPriceDetails",
    "PricingUnit",
    "ConsumedUnit",
    "ServiceCategory",
    "ServiceName",
    "ServiceSubcategory",
)


async def stored(billing: BillingWorld, statement: str, sku: str, price: Decimal) -> UUID:
    await billing.price(price, sku=sku)
    resource = new_id()
    await billing.execute(statement, id=resource, project=billing.project.id)
    return resource


async def begins(billing: BillingWorld, resource: UUID, instant: str) -> None:
    """Twice, as of a worker that repeats it."""
    billing.now(at(instant))
    for _ in range(2):
        async with billing.database.begin() as connection:
            await open_stored(connection, project_id=billing.project.id, resource_id=resource)


async def ends(billing: BillingWorld, resource: UUID, instant: str) -> None:
    billing.now(at(instant))
    for _ in range(2):
        async with billing.database.begin() as connection:
            await close_stored(connection, project_id=billing.project.id, resource_id=resource)


async def enters(billing: BillingWorld, volume: UUID, state: VolumeState, instant: str, *, gib: int = 100) -> None:
    """As a worker or a request has it enter a state at an instant."""
    billing.now(at(instant))
    resizing = state is VolumeState.RESIZING
    async with billing.database.begin() as connection:
        row = await VOLUMES.lock(connection, billing.project.id, volume)
        sizes = {"wanted_gib": gib} if resizing else {"size_gib": gib, "wanted_gib": None}
        await VOLUMES.move(connection, row._replace(**sizes), state)
    if not resizing:
        await ends(billing, volume, instant)
    if state is VolumeState.AVAILABLE:
        await begins(billing, volume, instant)


def provisional(billing: BillingWorld, database: Scratch, version: FocusVersion = FocusVersion.V1_4) -> Rows:
    chosen = selection(project=billing.project.id, month=APRIL, version=version, provisional=True)
    return rows_of(csv_of(database.app_url, chosen))


def assert_in_files(
    billing: BillingWorld, database: Scratch, cells: tuple[str, ...], quantity: int, cost: Decimal
) -> None:
    """Every row of every version has these cells, and all together these sums."""
    for version in FocusVersion:
        rows = provisional(billing, database, version)
        assert {tuple(row[name] for name in CELLS) for row in rows} == {cells}
        assert all('"team"' in row["Tags"] for row in rows)
        sums = [summed(rows, column) for column in ("PricingQuantity", "ConsumedQuantity", "BilledCost")]
        assert sums == [quantity, quantity, cost]


async def assert_invoiced(billing: BillingWorld, database: Scratch, *service: str) -> None:
    """The rounding of the invoice belongs to the service."""
    await taxed(billing)
    billing.now(at("2026-05-02T00:30:00"))
    while not await billing.value("SELECT count(*) FROM invoices"):
        await billing.keep()  # so many hours at once
    rows = rows_of(csv_of(database.app_url, selection(project=billing.project.id, month=APRIL)))
    columns = ("ChargeCategory", "ServiceCategory", "ServiceName")
    rounded = {tuple(row[name] for name in columns) for row in rows if not row["ResourceId"]}
    assert ("Adjustment", *service) in rounded


async def test_each_minute_is_charged_for_the_size_at_its_beginning(billing: BillingWorld, database: Scratch) -> None:
    volume = await stored(billing, _VOLUME, "volume-gib", VOLUME)
    await enters(billing, volume, VolumeState.AVAILABLE, "2026-04-10T10:00:20")
    await enters(billing, volume, VolumeState.RESIZING, "2026-04-10T10:30:10", gib=200)
    await enters(billing, volume, VolumeState.AVAILABLE, "2026-04-10T10:30:30", gib=200)
    await enters(billing, volume, VolumeState.DELETING, "2026-04-10T11:00:20", gib=200)
    await billing.keep(at("2026-04-10T11:30:00"))  # the second hour is not closed yet
    sku = ("volume-gib", "Volume capacity", "", "GiB-Minutes", "GiB-Minutes")
    cells = (f"urn:ipu:volume:{volume}", "data", "Volume", *sku, "Storage", "Volume", "Block Storage")
    assert_in_files(billing, database, cells, 31 * 100 + 29 * 200, Decimal("0.02031959"))
    await billing.keep(at("2026-04-10T12:30:00"))
    assert set(await billing.tuples(BILL)) == {
        ("volume-gib", volume, 100, 31, VOLUME * 31 * 100),
        ("volume-gib", volume, 200, 29, VOLUME * 29 * 200),
    }
    await assert_invoiced(billing, database, "Storage", "Volume")


async def test_an_address_is_billed_by_the_minute(billing: BillingWorld, database: Scratch) -> None:
    address = await stored(billing, _ADDRESS, "address", ADDRESS)
    await begins(billing, address, "2026-04-10T10:00:20")
    await ends(billing, address, "2026-04-10T11:00:30")
    await billing.keep(at("2026-04-10T11:30:00"))  # the second hour is not closed yet
    sku = ("address", "Reserved address", "", "Address-Minutes", "Address-Minutes")
    service = ("Networking", "Address", "Network Infrastructure")
    cells = (f"urn:ipu:address:{address}", "frontdoor", "Address", *sku, *service)
    assert_in_files(billing, database, cells, 61, ADDRESS * 61)
    await billing.keep(at("2026-04-10T12:30:00"))
    assert await billing.tuples(BILL) == [("address", address, 1, 61, ADDRESS * 61)]
    await assert_invoiced(billing, database, "Networking", "Address")
    lines = "SELECT sku, machine_minutes, cost FROM invoice_lines"
    assert await billing.tuples(lines) == [("address", 61, ADDRESS * 61)]


async def test_what_was_never_made_costs_nothing(billing: BillingWorld) -> None:
    volume = await stored(billing, _VOLUME, "volume-gib", VOLUME)
    await enters(billing, volume, VolumeState.DELETING, "2026-04-10T10:00:20")
    await ends(billing, await stored(billing, _ADDRESS, "address", ADDRESS), "2026-04-10T10:00:20")
    await billing.keep(at("2026-04-10T12:30:00"))
    assert await billing.total() == (0, Decimal(0))


async def test_a_snapshot_is_billed_beside_its_volume_and_after_it(billing: BillingWorld, database: Scratch) -> None:
    volume = await stored(billing, _VOLUME, "volume-gib", VOLUME)
    await enters(billing, volume, VolumeState.AVAILABLE, "2026-04-10T10:00:20")
    snapshot = await stored(billing, _SNAPSHOT, "snapshot-gib", SNAPSHOT)
    await begins(billing, snapshot, "2026-04-10T10:20:00")
    await enters(billing, volume, VolumeState.DELETING, "2026-04-10T10:30:20")
    await ends(billing, snapshot, "2026-04-10T10:50:00")
    await billing.keep(at("2026-04-10T12:30:00"))
    assert set(await billing.tuples(BILL)) == {
        ("volume-gib", volume, 100, 30, VOLUME * 30 * 100),
        ("snapshot-gib", snapshot, 100, 30, SNAPSHOT * 30 * 100),
    }
    rows = provisional(billing, database)
    sku = ("snapshot-gib", "Snapshot capacity", "", "GiB-Minutes", "GiB-Minutes")
    cells = (f"urn:ipu:snapshot:{snapshot}", "before", "Snapshot", *sku, "Storage", "Volume", "Block Storage")
    assert {tuple(row[name] for name in CELLS) for row in rows if row["ResourceType"] == "Snapshot"} == {cells}


async def test_preemptible_minutes_have_a_price_and_a_category_of_their_own(
    billing: BillingWorld, database: Scratch
) -> None:
    await billing.price("0.0625")
    await billing.price("0.02", sku=PREEMPTIBLE)
    ordinary, preemptible = await billing.make_cluster(), await billing.make_cluster()
    await billing.execute(
        "UPDATE clusters SET preemptible = true, sku = :sku WHERE id = :id", sku=PREEMPTIBLE, id=preemptible
    )
    began = at("2026-04-10T10:00:30")
    await billing.used(ordinary, began, at("2026-04-10T11:20:30"), quantity=4)
    await billing.insert(
        sa.insert(usage_intervals).values(
            id=new_id(),
            project_id=billing.project.id,
            resource_id=preemptible,
            flavor="m2000-pod16",
            sku=PREEMPTIBLE,
            region=REGION,
            currency="EUR",
            quantity=4,
            anchor_at=began,
            started_at=began,
            ended_at=at("2026-04-10T11:20:31"),
        )
    )
    await billing.keep(at("2026-04-10T11:30:00"))  # the second hour is not closed yet
    assert set(await billing.tuples(BILL)) == {
        (SKU, ordinary, 4, 60, Decimal("0.0625") * 60 * 4),
        (PREEMPTIBLE, preemptible, 4, 60, Decimal("0.02") * 60 * 4),
    }
    for version in FocusVersion:
        rows = provisional(billing, database, version)
        assert {(row["SkuId"], row["PricingCategory"], row["x_Provisional"]) for row in rows} == {
            (sku, category, provisional_)
            for sku, category in ((SKU, "Standard"), (PREEMPTIBLE, "Dynamic"))
            for provisional_ in ("false", "true")
        }
        assert summed(rows, SkuId=PREEMPTIBLE) == Decimal("0.02") * 81 * 4
