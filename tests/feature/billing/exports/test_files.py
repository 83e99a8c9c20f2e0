"""What stands in the files of Cost and Usage: the ledger to the last digit, for the one who asked, in both formats."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import product
from pathlib import Path
from uuid import UUID

import pytest

from ipucloud.billing.exports.datasets import Column, Kind, columns_of
from ipucloud.billing.exports.manifest import manifest_of
from ipucloud.billing.exports.selection import Selection, month_of, snapshot
from ipucloud.billing.invoices.issue import issue_in
from ipucloud.billing.invoices.lines import Bill
from ipucloud.billing.reports.summary import account_spending, project_spending
from ipucloud.contract.exports import Dataset, FileFormat, FocusVersion
from tests.feature.billing.exports.defects import find_defects
from tests.feature.billing.exports.ledgers import (
    APRIL,
    HOSTILE,
    MAY,
    NOW,
    Furnished,
    Rows,
    csv_of,
    furnish,
    parquet_file,
    parquet_of,
    rows_of,
    selection,
)
from tests.feature.billing.world import BillingWorld, at
from tests.support.postgres import Database as Scratch
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.anyio


def summed(rows: Rows, column: str = "BilledCost", **only: str) -> Decimal:
    return sum((Decimal(row[column]) for row in rows if only.items() <= row.items()), Decimal(0))


async def charged(billing: BillingWorld, where: str, **values: object) -> Decimal:
    [row] = await billing.rows(f"SELECT coalesce(sum(cost), 0) FROM usage_charges WHERE {where}", values)  # noqa: S608
    total: Decimal = row[0]
    return total


def assert_valid(file: Path, dataset: str = "cost-and-usage") -> None:
    """By the format's own toolkit; of a directory: the files of its datasets, together."""
    what = ("validate-bundle", "--directory") if file.is_dir() else ("validate", "--dataset", dataset)
    command = [sys.executable, "-m", "focus_data_toolkit", *what, str(file)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert run.returncode == 0, run.stdout + run.stderr


async def test_files_are_the_ledger_and_pass_every_check(
    billing: BillingWorld, database: Scratch, tmp_path: Path
) -> None:
    ledger = await furnish(billing)
    own, other = billing.project.id, ledger.other.id
    for month in (APRIL, MAY):
        for kind, id_ in product(("project", "account"), (own, other)):
            chosen = selection(project=id_, month=month) if kind == "project" else selection(account=id_, month=month)
            content = csv_of(database.app_url, chosen)
            rows = rows_of(content)
            assert summed([row for row in rows if row["ResourceId"]]) == await charged(
                billing, f"{kind}_id = :id AND billing_month = :month", id=id_, month=month
            )
            if kind == "project":
                assert {row["SubAccountId"] for row in rows} <= {f"urn:ipu:project:{id_}", ""}
            with snapshot(database.app_url) as connection:
                whole = kind == "account"
                assert find_defects(connection, [content], chosen.version, whole_invoices=whole) == []
            if not rows:
                continue
            file = tmp_path / f"{kind}-{month}.csv"
            file.write_bytes(content)
            assert_valid(file)
    assert summed(rows_of(csv_of(database.app_url, selection(account=own, month=MAY))), ChargeClass="Correction") > 0


async def test_credited_machines_are_rows_beside_those_of_usage(billing: BillingWorld, database: Scratch) -> None:
    """Five of sixteen machines fail on 3 May, from 3:30 to 5:17."""
    await furnish(billing)
    rows = rows_of(csv_of(database.app_url, selection(project=billing.project.id, month=MAY)))
    credit_rows = [row for row in rows if row["x_ChargeId"].endswith("-credit")]
    usage = {row["x_ChargeId"]: row for row in rows if row["ChargeCategory"] == "Usage"}
    assert len(credit_rows) == 3
    for credit in credit_rows:
        of = usage[credit["x_ChargeId"].removesuffix("-credit")]
        for name in ("ResourceId", "ChargePeriodStart", "ChargePeriodEnd", "SubAccountName", "Tags", "InvoiceId"):
            assert credit[name] == of[name]
        assert credit["ChargeCategory"] == "Credit"
        assert Decimal(credit["BilledCost"]) * 16 == Decimal(of["BilledCost"]) * -5
        assert credit["ChargeDescription"].startswith("5 of 16 machines did not work, ")
        assert credit["ChargeDescription"].endswith(" min: host_failed")


async def test_a_month_that_cost_nothing_is_on_no_invoice_once_the_others_are_issued(
    billing: BillingWorld, database: Scratch
) -> None:
    await billing.price("0")
    await billing.used(await billing.make_cluster(), at("2026-04-30T20:00:00"), at("2026-04-30T21:00:00"))
    chosen = selection(account=billing.project.id, month=APRIL)
    for instant, invoice in ((NOW.replace(day=1, hour=0), f"draft:{billing.project.id}:2026-04"), (NOW, "")):
        await billing.keep(instant)
        rows = rows_of(csv_of(database.app_url, chosen))
        assert ({row["InvoiceId"] for row in rows}, summed(rows)) == ({invoice}, Decimal(0))
    with snapshot(database.app_url) as connection:
        manifest = manifest_of(connection, chosen, rows=len(rows), size=0, sha256="", name="")
    assert (manifest["rows"], manifest["invoices"]) == (len(rows), [])


async def test_usage_that_is_not_posted_is_marked_and_is_what_the_close_posts(
    billing: BillingWorld, database: Scratch, tmp_path: Path
) -> None:
    """At any second of the hours after the last close: what is posted and what is provisional are the accrued cost."""
    ledger = await furnish(billing)
    owners = [(billing.project.id, None), (ledger.other.id, None), (None, billing.project.id)]
    chance = random.Random(14)  # noqa: S311  # a test's choice
    for second in (0, *sorted(chance.sample(range(1, 9000), 4))):
        billing.now(NOW + timedelta(seconds=second))
        for project, account in owners:
            posted = rows_of(csv_of(database.app_url, selection(project=project, account=account)))
            chosen = selection(project=project, account=account, provisional=True)
            content = csv_of(database.app_url, chosen)
            rows = rows_of(content)
            assert [row for row in rows if row["x_Provisional"] == "false"] == posted
            quantities = {row[name] for row in rows for name in ("ConsumedQuantity", "PricingQuantity") if row[name]}
            assert [each for each in quantities if "." not in each] == [], "readers would take them for integers"
            with snapshot(database.app_url) as connection:
                assert find_defects(connection, [content], chosen.version, whole_invoices=account is not None) == []
            spending = project_spending if project else account_spending
            async with billing.database.read() as connection:
                spent = await spending(connection, project or billing.project.id, currency="EUR")
            of_month = [row for row in rows if row["ResourceId"] and row["ChargeClass"] != "Correction"]
            assert summed(of_month) == spent.accrued.amount, (second, project)
            assert summed(of_month, x_Provisional="true") == spent.unposted.amount
        assert summed(rows, x_Provisional="true") > 0
        file = tmp_path / f"{second}.csv"
        file.write_bytes(content)
        assert_valid(file)
    before = rows_of(csv_of(database.app_url, selection(account=billing.project.id, month=APRIL, provisional=True)))
    assert {row["x_Provisional"] for row in before} == {"false"}, "a sealed month has none"


async def test_the_creator_of_a_resource_is_a_tag_of_its_own(billing: BillingWorld, database: Scratch) -> None:
    ledger = await furnish(billing)
    created = (
        "INSERT INTO operations (id, project_id, cluster_id, kind, state, request_id, requested_by, created_at,"
        " deadline_at)"
        " SELECT gen_random_uuid(), c.project_id, c.id, 'cluster.create', 'running', 'r', t.id, app_now(), app_now()"
        " FROM clusters c JOIN tokens t USING (project_id) WHERE c.id = :id LIMIT 1"
    )
    await billing.execute(created, id=ledger.clusters[0])
    await billing.execute(
        "UPDATE clusters SET tags = :spoofed WHERE id = :id",
        id=ledger.clusters[0],
        spoofed='{"team": "nlp", "ipucloud/created_by": "somebody else"}',
    )
    [(token,)] = await billing.rows("SELECT name FROM tokens WHERE project_id = :id LIMIT 1", id=billing.project.id)
    rows = rows_of(csv_of(database.app_url, selection(account=billing.project.id)))
    tags = {row["ResourceId"].split(":")[-1]: json.loads(row["Tags"]) for row in rows if row["ResourceId"]}
    assert tags[str(ledger.clusters[0])] == {"team": "nlp", "ipucloud/created_by": token}
    assert "ipucloud/created_by" not in tags[str(ledger.clusters[2])], "no token asked for it"


async def test_a_closed_month_is_the_same_file_whatever_is_renamed(billing: BillingWorld, database: Scratch) -> None:
    ledger = await furnish(billing)
    closed, open_ = selection(account=billing.project.id, month=APRIL), selection(account=billing.project.id, month=MAY)
    before, running = csv_of(database.app_url, closed), csv_of(database.app_url, open_)
    await billing.execute("UPDATE clusters SET name = 'renamed', tags = '{}' WHERE id = :id", id=ledger.clusters[0])
    await billing.execute("UPDATE projects SET name = 'Renamed'")
    await billing.execute("UPDATE billing_accounts SET name = 'Renamed'")
    await billing.keep(at("2026-05-03T09:30:00"))
    assert csv_of(database.app_url, closed) == before
    after = csv_of(database.app_url, open_)
    assert after != running
    assert "renamed" in {row["ResourceName"] for row in rows_of(after)}


async def test_hostile_names_stay_text(billing: BillingWorld, database: Scratch) -> None:
    await furnish(billing)
    rows = rows_of(csv_of(database.app_url, selection(project=billing.project.id)))
    names = {row["ResourceName"] for row in rows}
    assert f"'{HOSTILE}" in names
    assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for row in rows for cell in row.values())
    assert {json.loads(row["Tags"]).get("team") for row in rows if row["ResourceName"] == f"'{HOSTILE}"} == {"=1+1"}


async def test_the_datasets_of_a_month_are_a_bundle_without_findings(
    billing: BillingWorld, database: Scratch, tmp_path: Path
) -> None:
    """Usage, taken back in the month itself, and credited machines: every detail is the sum of its rows, exactly."""
    ledger = await furnish(billing)
    for month in (APRIL, MAY):
        if month == MAY:
            await settled_may(billing, ledger)
        for account, project in ((billing.project.id, None), (None, ledger.other.id)):
            files = {
                dataset: csv_of(
                    database.app_url, selection(month=month, dataset=dataset, account=account, project=project)
                )
                for dataset in Dataset
            }
            rows = rows_of(files[Dataset.COST_AND_USAGE])
            details = {row["InvoiceDetailId"]: row for row in rows_of(files[Dataset.INVOICE_DETAIL])}
            assert {row["InvoiceDetailId"] for row in rows} == details.keys()
            for number, detail in details.items():
                assert summed(rows, InvoiceDetailId=number) == Decimal(detail["BilledCost"])
            for dataset, content in files.items():
                (tmp_path / f"{dataset}.csv").write_bytes(content)
            assert_valid(tmp_path)


async def settled_may(billing: BillingWorld, ledger: Furnished) -> None:
    """May is over and billed. An hour of a cluster that never ran was posted and taken back in it."""
    await billing.execute("UPDATE usage_intervals SET ended_at = '2026-05-03T12:00:00Z' WHERE ended_at IS NULL")
    for minutes, revision in ((60, 0), (-60, 1)):
        await billing.execute(
            "INSERT INTO usage_charges (billing_month, hour, resource_id, first_minute, rev, project_id, account_id,"
            " interval_id, price_id, started_at, ended_at, minutes, quantity, sku, region, currency, unit_price,"
            " list_unit_price) SELECT billing_month, '2026-05-20T10:00Z', resource_id, 99999, :revision, project_id,"
            " account_id, interval_id, :price, '2026-05-20T10:00Z', '2026-05-20T11:00Z', :minutes, 1, sku,"
            " region, currency, 0.5, 0.5 FROM usage_charges WHERE resource_id = :cluster AND rev = 0 LIMIT 1",
            price=UUID(int=7),
            cluster=ledger.clusters[2],
            minutes=minutes,
            revision=revision,
        )
    for account in (billing.project.id, ledger.other.id):
        async with billing.database.begin() as connection:
            await issue_in(connection, Bill(account, "EUR", MAY))


@pytest.mark.parametrize("version", FocusVersion)
async def test_every_column_is_there_in_every_file(
    billing: BillingWorld, database: Scratch, version: FocusVersion
) -> None:
    for dataset in Dataset:
        chosen = Selection(dataset, version, FileFormat.CSV, month_of(MAY), UUID(int=5), None, "IPU Cloud", {})
        header, *rows = csv_of(database.app_url, chosen).decode().splitlines()
        assert header.split(",") == [column.name for column in columns_of(dataset, version)]
        assert rows == []


def read(cell: str, column: Column) -> object:
    """What a cell of CSV means."""
    if cell == "":
        return None
    if column.kind is Kind.DECIMAL:
        return Decimal(cell)
    if column.kind is Kind.TIME:
        return datetime.fromisoformat(cell)
    return cell.removeprefix("'")


def meant(row: Mapping[str, str], columns: Iterable[Column]) -> dict[str, object]:
    """A row of CSV as Parquet has it."""
    return {column.name: read(row[column.name], column) for column in columns}


async def test_both_formats_say_the_same(billing: BillingWorld, database: Scratch, tmp_path: Path) -> None:
    ledger = await furnish(billing)
    url = database.app_url
    for month in (APRIL, MAY):
        for dataset in Dataset:
            text = selection(account=billing.project.id, month=month, dataset=dataset)
            binary = selection(account=billing.project.id, month=month, dataset=dataset, format=FileFormat.PARQUET)
            content = parquet_of(url, binary)
            table = parquet_file(content).read()
            columns = columns_of(dataset, FocusVersion.V1_4)
            assert table.column_names == [column.name for column in columns]
            expected = [meant(row, columns) for row in rows_of(csv_of(url, text))]
            assert table.to_pylist() == expected
            assert parquet_of(url, binary) == content
            if dataset is Dataset.COST_AND_USAGE:
                (tmp_path / "file.parquet").write_bytes(content)
                assert_valid(tmp_path / "file.parquet", dataset)
    of_other = selection(project=ledger.other.id, format=FileFormat.PARQUET, version=FocusVersion.V1_2)
    accounts = parquet_file(parquet_of(url, of_other)).read()["BillingAccountId"].unique()
    assert len(accounts) == 2
