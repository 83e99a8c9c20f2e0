"""Exports of any days: however months are cut, every row of their bills is in one file and in no other."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipucloud.billing.exports.datasets import columns_of
from ipucloud.billing.exports.manifest import Manifest, manifest_of
from ipucloud.billing.exports.selection import Period, Selection, month_of, snapshot
from ipucloud.billing.invoices.credit_notes import issue_credit_note
from ipucloud.contract.exports import Dataset, FileFormat, FocusVersion
from ipucloud.kernel.money import Money
from tests.feature.billing.exports.defects import find_defects
from tests.feature.billing.exports.ledgers import (
    APRIL,
    MAY,
    csv_of,
    furnish,
    parquet_file,
    parquet_of,
    rows_of,
    selection,
)
from tests.feature.billing.exports.test_files import assert_valid, meant, summed
from tests.feature.billing.invoices.customers import granted, transact
from tests.feature.billing.world import BillingWorld, at, in_billing_world

BOTH = Period(APRIL, date(2026, 6, 1))
EVENTFUL = date(2026, 4, 29)
"""From here on rows are on nearly every day, for a week."""


@dataclass(frozen=True)
class Bills:
    """Two months' bills with rows of every kind, of an account that pays for two projects."""

    url: str
    account: UUID
    other: UUID

    def selections(self, period: Period, dataset: Dataset = Dataset.COST_AND_USAGE) -> list[Selection]:
        """What each of those who may ask gets."""
        return [
            selection(account=self.account, period=period, dataset=dataset),
            selection(project=self.account, period=period, dataset=dataset),
            selection(project=self.other, period=period, dataset=dataset),
        ]

    @cache  # noqa: B019  # as long as the tests of this file
    def lines(self, period: Period, who: int = 0, dataset: Dataset = Dataset.COST_AND_USAGE) -> tuple[str, ...]:
        """The rows that one of them gets."""
        file = csv_of(self.url, self.selections(period, dataset)[who])
        return tuple(file.decode().split("\n")[1:-1])

    def manifest(self, period: Period) -> Manifest:
        chosen = selection(account=self.account, period=period)
        rows = len(rows_of(csv_of(self.url, chosen)))
        with snapshot(self.url) as connection:
            return manifest_of(connection, chosen, rows=rows, size=1, sha256="0", name="file")


@pytest.fixture(scope="module")
def bills(postgres: Any) -> Iterator[Bills]:
    with postgres.fresh_database() as scratch:
        yield Bills(scratch.app_url, *asyncio.run(in_billing_world(scratch, _furnished)))


async def _furnished(billing: BillingWorld) -> tuple[UUID, UUID]:
    """The project, which has an account of its own, and the other project."""
    billing.now(at("2026-04-20T00:00:00"))
    await granted(billing, "1.00")
    ledger = await furnish(billing)
    number = await billing.value("SELECT number FROM invoices WHERE account_id = :id", id=billing.project.id)
    await transact(billing, partial(issue_credit_note, invoice=number, net=None, reason="a gift"))
    return billing.project.id, ledger.other.id


days = st.one_of(
    st.integers(0, 6).map(lambda day: EVENTFUL + timedelta(days=day)),
    st.integers(1, 60).map(lambda day: APRIL + timedelta(days=day)),
)


@settings(max_examples=30)
@given(
    cuts=st.sets(days, max_size=4),
    who=st.integers(0, 2),
    dataset=st.sampled_from([Dataset.COST_AND_USAGE, Dataset.INVOICE_DETAIL]),
)
def test_however_two_months_are_cut_no_row_is_lost_or_doubled(
    bills: Bills, cuts: set[date], who: int, dataset: Dataset
) -> None:
    months = [line for month in (APRIL, MAY) for line in bills.lines(month_of(month), who, dataset)]
    assert len(set(months)) == len(months)
    bounds = sorted({BOTH.since, *cuts, BOTH.until})
    cut = [line for part in pairwise(bounds) for line in bills.lines(Period(*part), who, dataset)]
    assert Counter(cut) == Counter(months)


def test_two_months_in_one_file_are_both_files_one_after_the_other(bills: Bills) -> None:
    for who in range(3):
        assert bills.lines(BOTH, who) == bills.lines(month_of(APRIL), who) + bills.lines(month_of(MAY), who)


def test_every_kind_of_row_has_its_day(bills: Bills) -> None:
    days_of: dict[tuple[str, str], set[date]] = {}
    for ahead in range(8):
        day = EVENTFUL + timedelta(days=ahead)
        one = selection(account=bills.account, period=Period(day, day + timedelta(days=1)))
        for row in rows_of(csv_of(bills.url, one)):
            days_of.setdefault((row["ChargeCategory"], row["ChargeClass"]), set()).add(day)
            if (row["ChargeCategory"], row["ChargeClass"]) == ("Usage", ""):
                assert date.fromisoformat(row["ChargePeriodStart"][:10]) == day
    assert days_of == {
        ("Usage", ""): {date(2026, 4, 30), MAY, date(2026, 5, 2), date(2026, 5, 3)},
        ("Usage", "Correction"): {MAY},
        ("Adjustment", ""): {date(2026, 4, 30)},
        ("Credit", ""): {date(2026, 4, 30), date(2026, 5, 3)},
        ("Tax", ""): {date(2026, 4, 30)},
        ("Credit", "Correction"): {date(2026, 5, 3)},
        ("Tax", "Correction"): {date(2026, 5, 3)},
    }


@pytest.mark.parametrize(
    "period", [BOTH, Period(date(2026, 4, 30), date(2026, 5, 3)), Period(date(2026, 5, 2), date(2026, 5, 4))], ids=str
)
def test_a_period_passes_every_check(bills: Bills, tmp_path: Path, period: Period) -> None:
    for chosen in bills.selections(period):
        content = csv_of(bills.url, chosen)
        whole = chosen.account_id is not None
        with snapshot(bills.url) as connection:
            found_defects = find_defects(connection, [content], chosen.version, whole_invoices=whole, period=period)
        assert found_defects == []
        (tmp_path / "file.csv").write_bytes(content)
        assert_valid(tmp_path / "file.csv")


def test_both_formats_say_the_same_of_a_period_however_many_series(
    bills: Bills, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ipucloud.billing.exports.parquet_rows.BATCH_BYTES", 500)  # a batch of each hour or two
    columns = columns_of(Dataset.COST_AND_USAGE, FocusVersion.V1_4)
    period = Period(date(2026, 4, 30), date(2026, 5, 4))
    text = selection(account=bills.account, period=period)
    binary = selection(account=bills.account, period=period, format=FileFormat.PARQUET)
    expected = [meant(row, columns) for row in rows_of(csv_of(bills.url, text))]
    for at_hand in (0, 2, 1000):
        file = parquet_file(parquet_of(bills.url, binary, at_hand=at_hand))
        assert file.read().to_pylist() == expected
        assert file.num_row_groups > 5
    assert len({row["BillingPeriodStart"] for row in expected}) == 2


def test_the_manifest_names_the_period_and_what_it_comes_to(bills: Bills) -> None:
    period = Period(date(2026, 4, 30), date(2026, 5, 3))
    manifest = bills.manifest(period)
    assert (manifest["since"], manifest["until"], manifest["final"]) == ("2026-04-30", "2026-05-03", False)
    assert "month" not in manifest
    rows = rows_of(csv_of(bills.url, selection(account=bills.account, period=period)))
    sums = {each["charge_category"]: each for each in manifest["sums"]}  # type: ignore[attr-defined]  # it is JSON
    assert {name: each["rows"] for name, each in sums.items()} == Counter(row["ChargeCategory"] for row in rows)
    for category, each in sums.items():
        assert summed(rows, ChargeCategory=category) == Money.of(each["billed_cost"], "EUR").amount
    sealed = bills.manifest(Period(date(2026, 4, 3), MAY))
    assert sealed["final"] is True
    assert sealed == bills.manifest(Period(date(2026, 4, 3), MAY))
    assert bills.manifest(Period(APRIL, MAY)) == bills.manifest(month_of(APRIL))
    assert bills.manifest(Period(APRIL, MAY))["month"] == "2026-04"


def test_every_month_that_is_touched_has_its_state(bills: Bills) -> None:
    chosen = selection(
        account=bills.account, period=Period(date(2026, 4, 30), date(2026, 5, 2)), dataset=Dataset.BILLING_PERIOD
    )
    shown = [(row["BillingPeriodStart"][:7], row["BillingPeriodStatus"]) for row in rows_of(csv_of(bills.url, chosen))]
    assert shown == [("2026-04", "Closed"), ("2026-05", "Open")]
