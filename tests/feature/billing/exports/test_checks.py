"""Every kind of defect that the validators of the format do not see is found by our own suite."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from ipucloud.billing.exports.selection import month_of, snapshot
from ipucloud.contract.exports import FocusVersion
from tests.feature.billing.exports.defects import CHECKS, Defect, find_defects
from tests.feature.billing.exports.ledgers import APRIL, Rows, csv_of, furnish, selection
from tests.feature.billing.world import in_billing_world


@dataclass(frozen=True)
class File:
    """A sound file of a closed month, with all rows of its invoices."""

    url: str
    content: bytes

    def with_defect(self, plant: Callable[[Rows], object]) -> bytes:
        reader = csv.DictReader(io.StringIO(self.content.decode(), newline=""))
        rows = list(reader)
        plant(rows)
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, reader.fieldnames or ())
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue().encode()

    def defects(self, content: bytes) -> set[str]:
        with snapshot(self.url) as connection:
            rows = find_defects(connection, [content], FocusVersion.V1_4, whole_invoices=True, period=month_of(APRIL))
        assert all(isinstance(each, Defect) and each.row > 0 for each in rows)
        return {each.check for each in rows}


@pytest.fixture(scope="module")
def file(postgres: Any) -> Iterator[File]:
    with postgres.fresh_database() as scratch:
        ledger = asyncio.run(in_billing_world(scratch, furnish))
        content = csv_of(scratch.app_url, selection(account=ledger.billing.project.id, month=APRIL))
        yield File(scratch.app_url, content)


def put(**values: str) -> Callable[[Rows], object]:
    """Write over cells of the first row, which is usage."""
    return lambda rows: rows[0].update(values)


def of_tax(**values: str) -> Callable[[Rows], object]:
    return lambda rows: next(row for row in rows if row["ChargeCategory"] == "Tax").update(values)


def all_costs(rows: Rows) -> None:
    """A cost that is wrong everywhere alike: the price does not give it."""
    for column in ("BilledCost", "ContractedCost", "EffectiveCost", "PricingCurrencyEffectiveCost"):
        rows[0][column] = "12.0000000001"


def backwards(rows: Rows) -> None:
    row = rows[0]
    row["ChargePeriodStart"], row["ChargePeriodEnd"] = row["ChargePeriodEnd"], row["ChargePeriodStart"]


def onto_another_line(rows: Rows) -> None:
    rows[0]["InvoiceDetailId"] = f"{rows[0]['InvoiceId']}/99"


def without_rounding(rows: Rows) -> None:
    rows.remove(next(row for row in rows if row["ChargeCategory"] == "Adjustment"))


PLANTED: dict[str, tuple[Callable[[Rows], object], str]] = {
    "a cost that the price does not give": (all_costs, "cost_is_price_times_quantity"),
    "a list cost that the list price does not give": (put(ListCost="1.0"), "list_cost_is_list_price_times_quantity"),
    "an effective cost of its own": (put(EffectiveCost="1.0"), "costs_agree"),
    "a negative price": (put(ContractedUnitPrice="-0.0625"), "price_is_not_negative"),
    "a period that ends before it begins": (backwards, "period_runs_forward"),
    "a period of another month": (
        put(ChargePeriodStart="2026-03-01T00:00:00Z", ChargePeriodEnd="2026-03-01T01:00:00Z"),
        "period_is_in_its_month",
    ),
    "a correction of the same month": (put(ChargeClass="Correction"), "correction_is_of_a_month_before"),
    "a row of another bill": (put(BillingPeriodStart="2026-05-01T00:00:00Z"), "row_is_in_the_period"),
    "a billing period of two months": (put(BillingPeriodEnd="2026-06-01T00:00:00Z"), "billing_period_is_a_month"),
    "a row that is there twice": (lambda rows: rows.append(dict(rows[0])), "charge_is_there_once"),
    "the same time under another id": (
        lambda rows: rows.append(rows[0] | {"x_ChargeId": "another"}),
        "resource_is_charged_once_at_a_time",
    ),
    "usage of nothing": (put(PricingQuantity="0.0"), "first_charge_is_positive"),
    "more minutes than the period has": (put(ChargeDescription="ipu-m2000 x1, 192 min"), "period_holds_the_minutes"),
    "IPUs that do not exist": (put(ConsumedQuantity="769.0"), "consumed_is_priced_times_ipus"),
    "usage without a resource": (put(ResourceId="", ResourceName="", ResourceType=""), "usage_says_what_was_used"),
    "tax with a price": (of_tax(ContractedUnitPrice="1.0"), "tax_has_no_price"),
    "an id of a price row": (put(SkuPriceId="ipu-m2000/01977b1e"), "price_id_is_of_the_sku"),
    "a charge without its line": (put(InvoiceDetailId=""), "detail_is_of_its_invoice"),
    "a line of another invoice": (put(InvoiceDetailId="INV-2026-000009/1"), "detail_is_of_its_invoice"),
    "a charge on another line": (onto_another_line, "line_is_the_sum_of_its_details"),
    "a line that is not rounded": (without_rounding, "line_is_the_sum_of_its_details"),
    "two names of one resource": (put(ResourceName="another"), "id_has_one_name"),
    "two currencies on one invoice": (put(BillingCurrency="USD"), "invoice_has_one_currency_and_account"),
    "a currency in small letters": (put(BillingCurrency="eur"), "currency_is_a_code"),
    "tags that are a list": (put(Tags="[1]"), "details_are_json_objects"),
    "a row that is missing": (list.pop, "billed_is_what_is_on_the_invoice"),
    "an unknown category": (put(ChargeCategory="Gift"), "value_is_allowed"),
    "a cluster as storage": (
        put(ServiceCategory="Storage", ServiceName="Volume", ServiceSubcategory="Block Storage"),
        "service_is_that_of_the_resource",
    ),
    "a local time": (put(ChargePeriodStart="2026-04-30 20:12:13+02"), "value_has_its_form"),
    "a number with separators": (put(BilledCost="1,200.0"), "value_has_its_form"),
    "no invoice": (put(InvoiceId=""), "billed_is_what_is_on_the_invoice"),
    "a bare id": (put(SubAccountId="12345"), "id_is_qualified"),
    "a region without its name": (put(RegionName=""), "columns_are_empty_together"),
    "a formula": (put(ResourceName="=1+1"), "text_is_no_formula"),
}


def test_a_sound_file_has_none(file: File) -> None:
    assert file.defects(file.content) == set()
    assert file.defects(file.with_defect(list.reverse)) == set()


@pytest.mark.parametrize("defect", PLANTED)
def test_a_planted_defect_is_found(file: File, defect: str) -> None:
    plant, check = PLANTED[defect]
    assert check in file.defects(file.with_defect(plant))


def test_every_check_has_a_defect_of_its_own() -> None:
    assert CHECKS.keys() <= {check for _, check in PLANTED.values()}
