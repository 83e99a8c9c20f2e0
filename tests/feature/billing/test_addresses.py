"""Addresses in the ledger, in reports, invoices and FOCUS files: address-minutes of resources of their own."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from uuid import UUID

import pytest

from ipucloud.billing.metering.intervals import close_stored, open_stored
from ipucloud.contract.exports import FocusVersion
from tests.feature.billing.exports.ledgers import APRIL, csv_of, selection
from tests.feature.billing.world import BillingWorld, at
from tests.support.factories import make_price
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

PRICE = Decimal("0.0000684932")
SKU = "address"
_INSERT = """
INSERT INTO addresses (id, project_id, name, tags, region, external_name, sku, currency, created_by)
VALUES (gen_random_uuid(), :project, 'frontdoor', '{"team": "nlp"}', 'luxembourg-2', 'frontdoor-1', 'address', 'EUR',
        gen_random_uuid()) RETURNING id
"""


async def make_address(billing: BillingWorld) -> UUID:
    async with billing.database.begin() as connection:
        await make_price(connection, SKU, "luxembourg-2", PRICE)
    rows = await billing.rows(_INSERT.replace(":project", f"'{billing.project.id}'"))
    return UUID(str(rows[0].id))


async def test_an_address_is_billed_by_the_minute_and_has_rows_of_its_own(
    billing: BillingWorld, database: Scratch
) -> None:
    address = await make_address(billing)
    owner = {"project_id": billing.project.id, "resource_id": address}
    billing.now(at("2026-04-10T10:00:20"))
    async with billing.database.begin() as connection:
        await open_stored(connection, **owner)
        await open_stored(connection, **owner)  # a worker that repeats it
    billing.now(at("2026-04-10T11:00:30"))
    async with billing.database.begin() as connection:
        await close_stored(connection, **owner)
        await close_stored(connection, **owner)
    await billing.keep(at("2026-04-10T11:30:00"))  # the second hour is not closed yet
    for version in FocusVersion:
        chosen = selection(project=billing.project.id, month=APRIL, version=version, provisional=True)
        rows = [*csv.DictReader(io.StringIO(csv_of(database.app_url, chosen).decode(), newline=""))]
        assert {row["ResourceId"] for row in rows} == {f"urn:ipu:address:{address}"}
        shown = {(row["ResourceName"], row["ResourceType"], row["SkuId"], row["SkuMeter"]) for row in rows}
        assert shown == {("frontdoor", "Address", SKU, "Reserved address")}
        assert {(row["PricingUnit"], row["ConsumedUnit"]) for row in rows} == {("Address-Minutes", "Address-Minutes")}
        services = {(row["ServiceCategory"], row["ServiceName"], row["ServiceSubcategory"]) for row in rows}
        assert services == {("Networking", "Address", "Network Infrastructure")}
        assert {row["SkuPriceDetails"] for row in rows} == {""}
        assert sum(Decimal(row["PricingQuantity"]) for row in rows) == 61
        assert sum(Decimal(row["ConsumedQuantity"]) for row in rows) == 61
        assert sum(Decimal(row["BilledCost"]) for row in rows) == PRICE * 61
    await billing.keep(at("2026-04-10T12:30:00"))
    bill = "SELECT resource_id, quantity, sum(minutes)::integer, sum(cost) FROM usage_charges GROUP BY 1, 2"
    assert [tuple(row) for row in await billing.rows(bill)] == [(address, 1, 61, PRICE * 61)]
    await billing.execute(
        "INSERT INTO tax_rates (id, country, kind, name, rate, valid_from, source)"
        " VALUES (gen_random_uuid(), 'LU', 'standard', 'VAT', 0.17, '2024-01-01', 'test')"
    )
    billing.now(at("2026-05-02T00:30:00"))
    while not await billing.value("SELECT count(*) FROM invoices"):
        await billing.keep()  # so many hours at once
    line = "SELECT sku, machine_minutes, cost FROM invoice_lines"
    assert [tuple(row) for row in await billing.rows(line)] == [(SKU, 61, PRICE * 61)]
    invoiced = csv_of(database.app_url, selection(project=billing.project.id, month=APRIL)).decode()
    rounded = [row for row in csv.DictReader(io.StringIO(invoiced, newline="")) if not row["ResourceId"]]
    services = {(row["ChargeCategory"], row["ServiceCategory"], row["ServiceName"]) for row in rounded}
    assert ("Adjustment", "Networking", "Address") in services


async def test_an_address_that_was_never_reserved_costs_nothing(billing: BillingWorld) -> None:
    address = await make_address(billing)
    billing.now(at("2026-04-10T10:00:20"))
    async with billing.database.begin() as connection:
        await close_stored(connection, project_id=billing.project.id, resource_id=address)
    await billing.keep(at("2026-04-10T12:30:00"))
    assert await billing.value("SELECT count(*) FROM usage_charges") == 0
