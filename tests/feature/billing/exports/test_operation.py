"""Exports as operations: made once whoever is killed, kept whole, downloaded, thrown away."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from ipucloud.billing.exports.requests import (
    RequestedExport,
    forget_expired_files,
    kept_file,
    limit_document,
    pieces_of,
    set_limit,
)
from ipucloud.billing.exports.selection import month_of
from ipucloud.contract.exports import PER_DAY, Dataset, FileFormat, FocusVersion
from ipucloud.db.engine import Database
from ipucloud.identity.members import Home
from ipucloud.invariants.audit import audit
from ipucloud.kernel.errors import QUOTA_EXCEEDED, STATE_CONFLICT, Problem
from tests.feature.billing.exports.ledgers import APRIL, MAY, csv_of, furnish, parquet_of, selection
from tests.feature.billing.exports.workers import ExportClient, work_until_killed
from tests.feature.billing.test_killed import killed_at
from tests.feature.billing.world import BillingWorld, in_billing_world, open_billing_world
from tests.support.postgres import Database as Scratch
from tests.support.world.clock import start_clock

CSV = RequestedExport(Dataset.COST_AND_USAGE, FocusVersion.V1_4, FileFormat.CSV, month_of(APRIL))
PARQUET = RequestedExport(Dataset.COST_AND_USAGE, FocusVersion.V1_2, FileFormat.PARQUET, month_of(MAY))
POINTS = ("engine.acted", "engine.before_commit")


@pytest.fixture(scope="module")
def scratch(postgres: Any) -> Iterator[Scratch]:
    with postgres.fresh_database() as database:
        yield database


@pytest.fixture(scope="module")
def project(scratch: Scratch) -> Any:
    """The project of a furnished ledger, shared by the tests of this file."""
    ledger = asyncio.run(in_billing_world(scratch, furnish))
    start_clock(scratch.owner_url)
    return ledger.billing.project.id


@pytest.fixture
async def client(scratch: Scratch, project: Any) -> Any:
    database = Database(scratch.app_url)
    yield ExportClient(database, project)
    async with database.begin() as connection:
        await connection.exec_driver_sql("DELETE FROM export_chunks")
    await database.close()


@pytest.mark.anyio
async def test_files_are_made_kept_and_downloaded(client: ExportClient, scratch: Scratch) -> None:
    csv, parquet = await client.ask(CSV), await client.ask(PARQUET)
    await client.work_until_done(csv, parquet)
    expected = {
        csv: csv_of(scratch.app_url, selection(project=client.project_id, month=APRIL)),
        parquet: parquet_of(
            scratch.app_url,
            selection(project=client.project_id, version=FocusVersion.V1_2, format=FileFormat.PARQUET),
        ),
    }
    for export, content in expected.items():
        state = await client.state(export)
        assert (state.state, state.progress, state.error) == ("succeeded", 100, None)
        async with client.database.read() as connection:
            file = await kept_file(connection, Home(client.project_id, None), export)
        assert b"".join([piece async for piece in pieces_of(client.database, file)]) == content
        assert file.sha256 == hashlib.sha256(content).hexdigest()
        assert file.sha256 in file.name
        [listed] = state.manifest["files"]
        assert (listed["bytes"], listed["sha256"]) == (len(content), file.sha256)
    manifest = (await client.state(csv)).manifest
    assert (manifest["final"], manifest["rows"]) == (True, 8)
    assert sum(float(each["billed_cost"]) for each in manifest["sums"]) == pytest.approx(
        float(await _invoice_total(client))
    )
    again = await client.ask(CSV)
    await client.work_until_done(again)
    assert (await client.state(again)).manifest == manifest
    broken = {finding.rule.object_type for finding in await audit(client.database)}
    assert not broken & {"operation", "work item", "day", "row"}


async def _invoice_total(client: ExportClient) -> Any:
    async with client.database.begin() as connection:
        result = await connection.exec_driver_sql(
            f"SELECT total FROM invoices WHERE account_id = '{client.project_id}'"  # noqa: S608
        )
        return result.scalar_one()


@pytest.mark.anyio
@pytest.mark.parametrize("point", POINTS)
async def test_a_worker_killed_anywhere_leaves_one_whole_file(
    client: ExportClient, scratch: Scratch, point: str
) -> None:
    export = await client.ask(CSV)
    came = await asyncio.to_thread(killed_at, scratch, point, 1, work_until_killed)
    assert came, "the worker did not come to the point"
    await client.work_until_done(export)
    state = await client.state(export)
    assert state.state == "succeeded"
    content = csv_of(scratch.app_url, selection(project=client.project_id, month=APRIL))
    assert await client.pieces(export) == {state.fence: content}


@pytest.mark.anyio
async def test_only_so_many_a_day_and_no_month_that_has_not_begun(billing: BillingWorld) -> None:
    client = ExportClient(billing.database, billing.project.id)
    for allowed in (PER_DAY, PER_DAY + 2):
        for _ in range(allowed - await _used(client)):
            await client.ask(CSV)
        with pytest.raises(Problem) as refused:
            await client.ask(CSV)
        assert refused.value.kind is QUOTA_EXCEEDED
        assert f"may request {allowed} exports within 24 hours" in refused.value.detail
        assert f"ipucloud exports set-limit {allowed + 10} --project {billing.project.slug}" in refused.value.detail
        async with billing.database.begin() as connection:
            await set_limit(connection, Home(billing.project.id, None), allowed + 2)
    await client.ask(CSV)
    async with billing.database.begin() as connection:
        await set_limit(connection, Home(billing.project.id, None), 0)
    with pytest.raises(Problem) as refused:
        await client.ask(CSV)
    assert "The next one is possible" not in refused.value.detail
    with pytest.raises(Problem) as refused:
        await ExportClient(billing.database, (await _another(billing))).ask(
            RequestedExport(CSV.dataset, CSV.version, CSV.format, month_of(APRIL.replace(year=2126)))
        )
    assert refused.value.kind is STATE_CONFLICT


async def _used(client: ExportClient) -> int:
    async with client.database.read() as connection:
        return int(orjson.loads(await limit_document(connection, Home(client.project_id, None)))["used"])


async def _another(billing: BillingWorld) -> Any:
    return (await open_billing_world(billing.database, billing.owner_url)).project.id


@pytest.mark.anyio
async def test_files_expire(client: ExportClient) -> None:
    async with client.database.begin() as connection:
        await connection.exec_driver_sql("UPDATE exports SET expires_at = app_now() WHERE expires_at IS NOT NULL")
        rows = await connection.exec_driver_sql("SELECT id FROM exports WHERE built_at IS NOT NULL LIMIT 1")
        export = rows.scalar_one()
        await connection.exec_driver_sql(
            f"INSERT INTO export_chunks SELECT id, fence, 0, 'x' FROM exports WHERE id = '{export}'"  # noqa: S608
        )
    await forget_expired_files(client.database)
    assert await client.pieces(export) == {}
    async with client.database.read() as connection:
        with pytest.raises(Problem):
            await kept_file(connection, Home(client.project_id, None), export)
