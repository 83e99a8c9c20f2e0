"""Addresses in the ledger, in reports, invoices and FOCUS files: address-minutes of resources of their own."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from uuid import UUID

import pytest

from ipucloud.billing.metering.intervals import close_stored, open_stored
from ipucloud.contract.exports import FocusVersion
from tests.feature.billing.books import Books, at
from tests.feature.billing.exports.ledgers import APRIL, csv_of, selection
from tests.support.factories import make_price
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

PRICE = Decimal("0.0000684932")
SKU = "address"
_MADE = """
INSERT INTO addresses (id, project_id, name, tags, region, external_name, sku, currency, created_by)
VALUES (gen_random_uuid(), :project, 'frontdoor', '{"team": "nlp"}', 'luxembourg-2', 'frontdoor-1', 'address', 'EUR',
        gen_random_uuid()) RETURNING id
"""


async def made(books: Books) -> UUID:
    async with books.database.begin() as connection:
        await make_price(connection, SKU, "luxembourg-2", PRICE)
    found = await books.rows(_MADE.replace(":project", f"'{books.project.id}'"))
    return UUID(str(found[0].id))


async def test_an_address_is_billed_by_the_minute_and_has_rows_of_its_own(books: Books, database: Scratch) -> None:
    address = await made(books)
    mine = {"project_id": books.project.id, "resource_id": address}
    books.now(at("2026-04-10T10:00:20"))
    async with books.database.begin() as connection:
        await open_stored(connection, **mine)
        await open_stored(connection, **mine)  # a worker that repeats it
    books.now(at("2026-04-10T11:00:30"))
    async with books.database.begin() as connection:
        await close_stored(connection, **mine)
        await close_stored(connection, **mine)
    await books.keep(at("2026-04-10T11:30:00"))  # the second hour is not closed yet
    for version in FocusVersion:
        chosen = selection(project=books.project.id, month=APRIL, version=version, provisional=True)
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
    await books.keep(at("2026-04-10T12:30:00"))
    bill = "SELECT resource_id, quantity, sum(minutes)::integer, sum(cost) FROM usage_charges GROUP BY 1, 2"
    assert [tuple(row) for row in await books.rows(bill)] == [(address, 1, 61, PRICE * 61)]
    await books.execute(
        "INSERT INTO tax_rates (id, country, kind, name, rate, valid_from, source)"
        " VALUES (gen_random_uuid(), 'LU', 'standard', 'VAT', 0.17, '2024-01-01', 'test')"
    )
    books.now(at("2026-05-02T00:30:00"))
    while not await books.value("SELECT count(*) FROM invoices"):
        await books.keep()  # so many hours at once
    line = "SELECT sku, machine_minutes, cost FROM invoice_lines"
    assert [tuple(row) for row in await books.rows(line)] == [(SKU, 61, PRICE * 61)]
    invoiced = csv_of(database.app_url, selection(project=books.project.id, month=APRIL)).decode()
    rounded = [row for row in csv.DictReader(io.StringIO(invoiced, newline="")) if not row["ResourceId"]]
    services = {(row["ChargeCategory"], row["ServiceCategory"], row["ServiceName"]) for row in rounded}
    assert ("Adjustment", "Networking", "Address") in services


async def test_an_address_that_was_never_reserved_costs_nothing(books: Books) -> None:
    address = await made(books)
    books.now(at("2026-04-10T10:00:20"))
    async with books.database.begin() as connection:
        await close_stored(connection, project_id=books.project.id, resource_id=address)
    await books.keep(at("2026-04-10T12:30:00"))
    assert await books.value("SELECT count(*) FROM usage_charges") == 0
