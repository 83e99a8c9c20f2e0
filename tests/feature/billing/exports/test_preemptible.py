"""Minutes of preemptible clusters in the ledger and in FOCUS files: at their own price, of a category of their own."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import pytest
import sqlalchemy as sa

from ipucloud.billing.metering.tables import usage_intervals
from ipucloud.contract.exports import FocusVersion
from ipucloud.kernel.ids import new_id
from tests.feature.billing.exports.ledgers import APRIL, csv_of, selection
from tests.feature.billing.world import REGION, SKU, BillingWorld, at
from tests.support.factories import make_price
from tests.support.postgres import Database as Scratch
from tests.support.preemptible import PREEMPTIBLE

pytestmark = pytest.mark.anyio


async def test_they_are_charged_and_exported_at_their_own_price(billing: BillingWorld, database: Scratch) -> None:
    await billing.price("0.0625")
    async with billing.database.begin() as connection:
        await make_price(connection, PREEMPTIBLE, REGION, Decimal("0.02"))
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
    bill = "SELECT sku, sum(minutes)::integer, sum(cost) FROM usage_charges GROUP BY 1 ORDER BY 1"
    assert [tuple(row) for row in await billing.rows(bill)] == [
        (SKU, 60, Decimal("0.0625") * 60 * 4),
        (PREEMPTIBLE, 60, Decimal("0.02") * 60 * 4),
    ]
    for version in FocusVersion:
        chosen = selection(project=billing.project.id, month=APRIL, version=version, provisional=True)
        content = csv_of(database.app_url, chosen)
        rows = [*csv.DictReader(io.StringIO(content.decode(), newline=""))]
        skus = {(row["SkuId"], row["PricingCategory"], row["x_Provisional"]) for row in rows}
        assert skus == {
            (SKU, "Standard", "false"),
            (SKU, "Standard", "true"),
            (PREEMPTIBLE, "Dynamic", "false"),
            (PREEMPTIBLE, "Dynamic", "true"),
        }
        costs = sum(Decimal(row["BilledCost"]) for row in rows if row["SkuId"] == PREEMPTIBLE)
        assert costs == Decimal("0.02") * 81 * 4
