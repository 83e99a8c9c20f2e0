"""Exports of a billing account: what it paid for, for its time, and nothing else; its invoices to the cent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from ipucloud.billing.exports.connections import Rules, connect
from ipucloud.billing.exports.manifest import manifest_of
from ipucloud.billing.exports.requests import (
    RequestedExport,
    kept_file,
    limit_document,
    pieces_of,
    request_export,
    set_limit,
)
from ipucloud.billing.exports.schedules import add_schedule, serve_schedules
from ipucloud.billing.exports.selection import Selection, month_of, snapshot
from ipucloud.contract.exports import Dataset, ExportScheduleCreate, FileFormat, FocusVersion
from ipucloud.identity.members import Home
from ipucloud.invariants.audit import audit
from ipucloud.kernel.actor import AccountActor
from ipucloud.kernel.errors import Problem
from tests.feature.billing.exports.ledgers import MAY, csv_of, furnish, rows_of, selection
from tests.feature.billing.exports.test_delivery import PORTS, bucket
from tests.feature.billing.exports.test_files import settled_may, summed
from tests.feature.billing.exports.workers import KEYS, ExportClient
from tests.feature.billing.world import BillingWorld, at
from tests.support.postgres import Database as Scratch
from tests.support.s3 import s3_server
from tests.support.world.clock import start_clock, stop_clock

pytestmark = pytest.mark.anyio


def request_of(month: date = MAY) -> RequestedExport:
    return RequestedExport(Dataset.COST_AND_USAGE, FocusVersion.V1_4, FileFormat.CSV, month_of(month))


async def requested(billing: BillingWorld, account: UUID, *wants: RequestedExport) -> Sequence[UUID]:
    async with billing.database.begin() as connection:
        actor = AccountActor(account, None, "req-account")
        return [(await request_export(connection, actor, each))[0] for each in wants]


async def file_of(billing: BillingWorld, account: UUID, export: UUID) -> bytes:
    async with billing.database.read() as connection:
        file = await kept_file(connection, Home(None, account), export)
    return b"".join([piece async for piece in pieces_of(billing.database, file)])


async def test_a_project_that_moved_is_split_at_its_instant_and_files_are_the_invoices(
    billing: BillingWorld, database: Scratch
) -> None:
    """The second project's first hours of May are its own account's, the rest the first project's account's."""
    ledger = await furnish(billing)
    await settled_may(billing, ledger)
    start_clock(database.owner_url)
    accounts = (billing.project.id, ledger.other.id)
    exports = [(await requested(billing, account, request_of()))[0] for account in accounts]
    await ExportClient(billing.database, billing.project.id).work_until_done(*exports)
    files = []
    for account, export in zip(accounts, exports, strict=True):
        content = await file_of(billing, account, export)
        assert content == csv_of(database.app_url, selection(account=account))
        rows = rows_of(content)
        assert {row["BillingAccountId"] for row in rows} == {f"urn:ipu:account:{account}"}
        totals = {
            number: Decimal(total)
            for number, total in await billing.rows(
                "SELECT number, total FROM invoices WHERE account_id = :id AND month = '2026-05-01'"
                " UNION ALL SELECT n.number, -n.total FROM credit_notes n JOIN invoices i ON i.id = n.invoice_id"
                " WHERE i.account_id = :id AND n.issued_at < '2026-06-01Z'",
                id=account,
            )
        }
        assert {number: summed(rows, InvoiceId=number) for number in {row["InvoiceId"] for row in rows}} == totals
        files.append(rows)
    moved = at("2026-05-03T03:00:00")
    for rows, before in zip(files, (False, True), strict=True):
        usage = [
            at(row["ChargePeriodStart"].removesuffix("Z"))
            for row in rows
            if (row["SubAccountId"], row["ChargeCategory"]) == (f"urn:ipu:project:{ledger.other.id}", "Usage")
            and row["ChargePeriodStart"] < "2026-05-20"  # what `settled_may` posted by hand
        ]
        assert usage, "it paid for some of it"
        assert {start < moved for start in usage} == {before}
    assert [
        finding
        for finding in await audit(billing.database)
        if finding.rule.object_type in {"operation", "event", "row", "work_item"}
    ] == []
    with pytest.raises(Problem, match="does not exist"):
        await file_of(billing, ledger.other.id, exports[0])
    async with billing.database.read() as connection:
        with pytest.raises(Problem, match="does not exist"):
            await kept_file(connection, Home(billing.project.id, None), exports[0])


def part_of(database: Scratch, number: str, chosen: Selection) -> tuple[Decimal, object]:
    """What the manifest of a file says that the file has of an invoice, and whether that is all of it."""
    rows = len(rows_of(csv_of(database.app_url, chosen)))
    with snapshot(database.app_url) as connection:
        manifest: Any = manifest_of(connection, chosen, rows=rows, size=1, sha256="0", name="file")
    [named] = [each for each in manifest["invoices"] if each["invoice_id"] == number]
    return Decimal(named["billed_cost"]), named["whole"]


async def test_a_manifest_names_the_part_of_a_shared_invoice_that_its_file_has(
    billing: BillingWorld, database: Scratch
) -> None:
    """Both projects have lines on May's invoice: the account's file has its total, a project's file its own lines."""
    ledger = await furnish(billing)
    await settled_may(billing, ledger)
    [(number, total)] = await billing.rows(
        "SELECT number, total FROM invoices WHERE account_id = :id AND month = '2026-05-01'", id=billing.project.id
    )
    lines = await billing.rows(
        "SELECT project_id, sum(amount) FROM invoice_lines WHERE invoice_id ="
        " (SELECT id FROM invoices WHERE number = :number) GROUP BY project_id",
        number=number,
    )
    assert {project for project, _ in lines} == {billing.project.id, ledger.other.id}
    assert part_of(database, number, selection(account=billing.project.id)) == (total, True)
    for project, amount in lines:
        assert part_of(database, number, selection(project=project)) == (amount, False)


async def test_a_schedule_of_an_account_delivers_its_whole_bill(
    billing: BillingWorld, database: Scratch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    await furnish(billing)
    home = Home(None, billing.project.id)
    with s3_server(tmp_path_factory.mktemp("s3"), "costs") as s3:
        async with billing.database.begin() as connection:
            rules = Rules(KEYS, private_too=True, ports=PORTS)
            lake = UUID(json.loads(await connect(connection, home, bucket(s3), rules))["id"])
            plan = ExportScheduleCreate(connection=lake)
            await add_schedule(connection, home, plan)
        stop_clock(database.owner_url, at("2026-05-04T01:00:01"))
        await serve_schedules(billing.database)
        [(scheduled,)] = await billing.rows(
            "SELECT id FROM exports WHERE owner_account_id = :id", id=billing.project.id
        )
        await ExportClient(billing.database, billing.project.id).work_until_done(scheduled)
        start_clock(database.owner_url)
        content = csv_of(database.app_url, selection(account=billing.project.id))
        assert content in s3.files("costs").values()
    with pytest.raises(Problem, match="does not exist"):  # a project has no connection of its account
        async with billing.database.begin() as connection:
            await add_schedule(connection, Home(billing.project.id, None), plan)


async def test_an_account_has_a_limit_of_its_own(billing: BillingWorld) -> None:
    home = Home(None, billing.project.id)
    async with billing.database.begin() as connection:
        assert await set_limit(connection, home, 2)
        assert not await set_limit(connection, home, 2)
    month = (await billing.rows("SELECT date_trunc('month', app_now() AT TIME ZONE 'UTC')::date"))[0][0]
    await requested(billing, billing.project.id, request_of(month), request_of(month))
    with pytest.raises(Problem, match="billing account may request 2 exports") as refused:
        await requested(billing, billing.project.id, request_of(month))
    assert "--account" in (refused.value.detail or "")
    await ExportClient(billing.database, billing.project.id).ask(request_of(month))
    async with billing.database.read() as connection:
        assert json.loads(await limit_document(connection, home))["used"] == 2
        assert json.loads(await limit_document(connection, Home(billing.project.id, None)))["used"] == 1
