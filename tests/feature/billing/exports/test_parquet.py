"""Parquet files say what CSV files say, cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from ipucloud.billing.exports.datasets import Column, Kind, columns_of
from ipucloud.contract.exports import Dataset, FileFormat, FocusVersion
from tests.feature.billing.exports.ledgers import APRIL, MAY, csv_of, furnish, parquet_file, parquet_of, selection
from tests.feature.billing.exports.test_files import rows_of, toolkit
from tests.feature.billing.world import BillingWorld
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio


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
                checked = toolkit(dataset, tmp_path / "file.parquet")
                assert checked.returncode == 0, checked.stdout + checked.stderr
    of_other = selection(project=ledger.other.id, format=FileFormat.PARQUET, version=FocusVersion.V1_2)
    accounts = parquet_file(parquet_of(url, of_other)).read()["BillingAccountId"].unique()
    assert len(accounts) == 2
