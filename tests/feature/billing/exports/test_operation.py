"""Exports as operations: made once whoever is killed, kept whole, downloaded, thrown away."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from ipucloud.billing.exports.limits import limit_document, set_limit
from ipucloud.billing.exports.periods import month_of
from ipucloud.billing.exports.requests import Wanted, forget_expired_files, kept_file, pieces_of
from ipucloud.contract.exports import PER_DAY, Dataset, FileFormat, FocusVersion
from ipucloud.db.engine import Database
from ipucloud.identity.members import Home
from ipucloud.invariants.audit import audit
from ipucloud.kernel.errors import QUOTA_EXCEEDED, STATE_CONFLICT, Problem
from tests.feature.billing.books import Books, open_books
from tests.feature.billing.exports.ledgers import APRIL, MAY, csv_of, furnish, parquet_of, selection
from tests.feature.billing.exports.workers import Desk, killed_worker
from tests.support.postgres import Database as Scratch
from tests.support.world.clock import start_clock

CSV = Wanted(Dataset.COST_AND_USAGE, FocusVersion.V1_4, FileFormat.CSV, month_of(APRIL))
PARQUET = Wanted(Dataset.COST_AND_USAGE, FocusVersion.V1_2, FileFormat.PARQUET, month_of(MAY))
POINTS = ("engine.acted", "engine.before_commit")


async def furnished(scratch: Scratch) -> tuple[Books, Desk]:
    database = Database(scratch.app_url)
    books = await open_books(database, scratch.owner_url)
    await furnish(books)
    start_clock(scratch.owner_url)
    return books, Desk(database, books.project.id)


@pytest.fixture(scope="module")
def scratch(postgres: Any) -> Iterator[Scratch]:
    with postgres.fresh_database() as made:
        yield made


@pytest.fixture(scope="module")
def project(scratch: Scratch) -> Any:
    """The project of a furnished ledger, shared by the tests of this file."""

    async def make() -> Any:
        books, desk = await furnished(scratch)
        await desk.database.close()
        return books.project.id

    return asyncio.run(make())


@pytest.fixture
async def desk(scratch: Scratch, project: Any) -> Any:
    database = Database(scratch.app_url)
    yield Desk(database, project)
    async with database.begin() as connection:
        await connection.exec_driver_sql("DELETE FROM export_chunks")
    await database.close()


@pytest.mark.anyio
async def test_files_are_made_kept_and_downloaded(desk: Desk, scratch: Scratch) -> None:
    csv, parquet = await desk.ask(CSV), await desk.ask(PARQUET)
    await desk.work_until_done(csv, parquet)
    wanted = {
        csv: csv_of(scratch.app_url, selection(project=desk.project_id, month=APRIL)),
        parquet: parquet_of(
            scratch.app_url,
            selection(project=desk.project_id, version=FocusVersion.V1_2, format=FileFormat.PARQUET),
        ),
    }
    for export, content in wanted.items():
        state = await desk.state(export)
        assert (state.state, state.progress, state.error) == ("succeeded", 100, None)
        async with desk.database.read() as connection:
            file = await kept_file(connection, Home(desk.project_id, None), export)
        assert b"".join([piece async for piece in pieces_of(desk.database, file)]) == content
        assert file.sha256 == hashlib.sha256(content).hexdigest()
        assert file.sha256 in file.name
        [listed] = state.manifest["files"]
        assert (listed["bytes"], listed["sha256"]) == (len(content), file.sha256)
    manifest = (await desk.state(csv)).manifest
    assert (manifest["final"], manifest["rows"]) == (True, 8)
    assert sum(float(each["billed_cost"]) for each in manifest["sums"]) == pytest.approx(
        float(await _invoice_total(desk))
    )
    again = await desk.ask(CSV)
    await desk.work_until_done(again)
    assert (await desk.state(again)).manifest == manifest
    broken = {finding.rule.object_type for finding in await audit(desk.database)}
    assert not broken & {"operation", "work item", "day", "row"}


async def _invoice_total(desk: Desk) -> Any:
    async with desk.database.begin() as connection:
        found = await connection.exec_driver_sql(f"SELECT total FROM invoices WHERE account_id = '{desk.project_id}'")  # noqa: S608
        return found.scalar_one()


@pytest.mark.anyio
@pytest.mark.parametrize("point", POINTS)
async def test_a_worker_killed_anywhere_leaves_one_whole_file(desk: Desk, scratch: Scratch, point: str) -> None:
    export = await desk.ask(CSV)
    assert await asyncio.to_thread(killed_worker, scratch.app_url, point), "the worker did not come to the point"
    await desk.work_until_done(export)
    state = await desk.state(export)
    assert state.state == "succeeded"
    content = csv_of(scratch.app_url, selection(project=desk.project_id, month=APRIL))
    assert await desk.pieces(export) == {state.fence: content}


@pytest.mark.anyio
async def test_only_so_many_a_day_and_no_month_that_has_not_begun(books: Books) -> None:
    desk = Desk(books.database, books.project.id)
    for allowed in (PER_DAY, PER_DAY + 2):
        for _ in range(allowed - await _used(desk)):
            await desk.ask(CSV)
        with pytest.raises(Problem) as refused:
            await desk.ask(CSV)
        assert refused.value.kind is QUOTA_EXCEEDED
        assert f"may request {allowed} exports within 24 hours" in refused.value.detail
        assert f"ipucloud exports set-limit {allowed + 10} --project {books.project.slug}" in refused.value.detail
        async with books.database.begin() as connection:
            await set_limit(connection, Home(books.project.id, None), allowed + 2)
    await desk.ask(CSV)
    async with books.database.begin() as connection:
        await set_limit(connection, Home(books.project.id, None), 0)
    with pytest.raises(Problem) as refused:
        await desk.ask(CSV)
    assert "The next one is possible" not in refused.value.detail
    with pytest.raises(Problem) as refused:
        await Desk(books.database, (await _another(books))).ask(
            Wanted(CSV.dataset, CSV.version, CSV.format, month_of(APRIL.replace(year=2126)))
        )
    assert refused.value.kind is STATE_CONFLICT


async def _used(desk: Desk) -> int:
    async with desk.database.read() as connection:
        return int(orjson.loads(await limit_document(connection, Home(desk.project_id, None)))["used"])


async def _another(books: Books) -> Any:
    return (await open_books(books.database, books.owner_url)).project.id


@pytest.mark.anyio
async def test_files_expire(desk: Desk) -> None:
    async with desk.database.begin() as connection:
        await connection.exec_driver_sql("UPDATE exports SET expires_at = app_now() WHERE expires_at IS NOT NULL")
        rows = await connection.exec_driver_sql("SELECT id FROM exports WHERE built_at IS NOT NULL LIMIT 1")
        export = rows.scalar_one()
        await connection.exec_driver_sql(
            f"INSERT INTO export_chunks SELECT id, fence, 0, 'x' FROM exports WHERE id = '{export}'"  # noqa: S608
        )
    await forget_expired_files(desk.database)
    assert await desk.pieces(export) == {}
    async with desk.database.read() as connection:
        with pytest.raises(Problem):
            await kept_file(connection, Home(desk.project_id, None), export)
