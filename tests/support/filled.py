"""A sound database with at least one row in every table: a cluster that lived an hour and is being deleted.

What the product makes itself is made by it; all other rows are in `filled.sql`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.dunning.store import set_dunning
from ipucloud.billing.invoices.credit_notes import issue_credit_note
from ipucloud.billing.invoices.credits import grant
from ipucloud.billing.invoices.issue import issue_in
from ipucloud.billing.invoices.lines import Bill
from ipucloud.billing.invoices.payments import expect_payment, record_payment
from ipucloud.billing.ledger.close import post_hour
from ipucloud.clusters.operations.create import CREATE
from ipucloud.clusters.operations.delete import DELETE
from ipucloud.clusters.operations.kind import ClusterKind
from ipucloud.contract.accounts import DunningPolicy
from ipucloud.db.engine import Database
from ipucloud.idempotency.store import MoneyRequest, keep_money
from ipucloud.inventory.expected.changes import replace
from ipucloud.inventory.expected.shown import Change, Shown, record_changes, write_shown
from ipucloud.inventory.expected.tables import Happened
from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.reports import report
from ipucloud.kernel.ids import external_name, new_id
from ipucloud.kernel.money import Money
from ipucloud.operations.tables import operation_steps, operations
from tests.support.factories import LUXEMBOURG, make_cluster_row, make_project, seed_world
from tests.support.filled_names import CREATED_AT, DELETED_AT, FAR_AWAY, READY_AT, Filled
from tests.support.invoices import add_tax_rate
from tests.support.settled import SETTLED

_PART = re.compile(r"^-- part: (\w+)\n(.*?)(?=^-- part:|\Z)", re.MULTILINE | re.DOTALL)
_PARTS: Mapping[str, str] = dict(_PART.findall(Path(__file__).with_suffix(".sql").read_text("utf-8")))


def fill(app_url: str) -> Filled:
    """Write the rows as the application, which shows that it may."""

    async def run() -> Filled:
        database = Database(app_url, pool_size=1)
        try:
            async with database.begin() as connection:
                return await fill_in(connection)
        finally:
            await database.close()

    return asyncio.run(run())


async def fill_in(connection: AsyncConnection) -> Filled:
    """The same inside the caller's transaction."""
    world = await seed_world(connection)
    filled = Filled(
        project=world.project,
        other_project=await make_project(connection),
        cluster=new_id(),
        finished_operation=new_id(),
        open_operation=new_id(),
        machine=world.luxembourg.pods[0].machines[0],
        host=world.luxembourg.hosts[0],
    )
    name = external_name(filled.cluster, 1)
    values = {
        "project": filled.project.id,
        "token": filled.project.token.id,
        "cluster": filled.cluster,
        "name": name,
        "finished": filled.finished_operation,
        "opened": filled.open_operation,
        "machine": filled.machine,
        "host": filled.host,
        "created": CREATED_AT,
        "ready": READY_AT,
        "deleted": DELETED_AT,
        "far": FAR_AWAY,
        **{each: new_id() for each in ("volume", "ann", "fault")},
    }
    await make_cluster_row(
        connection,
        filled.project.id,
        id=filled.cluster,
        name="bert",
        state="deleting",
        preemptible=True,
        external_name=name,
        created_at=CREATED_AT,
        ready_at=READY_AT,
        delete_requested_at=DELETED_AT,
    )
    await _run(connection, _PARTS["cluster"], values)
    for statement in SETTLED:
        await connection.execute(sa.text(statement))
    await _record(
        connection, filled, filled.finished_operation, kind=CREATE, created_at=CREATED_AT, finished_at=READY_AT
    )
    await _record(connection, filled, filled.open_operation, kind=DELETE, created_at=DELETED_AT, finished_at=None)
    await _run(connection, _PARTS["operations"], values)
    await _show(connection, filled)
    await _run(connection, _PARTS["usage"], values)
    assert await post_hour(connection, READY_AT) == 1
    await _run(connection, _PARTS["closed"], values)
    await _bill(connection, filled.project.id, values)
    return filled


async def _run(connection: AsyncConnection, part: str, values: Mapping[str, object]) -> None:
    for statement in part.split(";\n"):
        if statement.strip():
            await connection.execute(sa.text(statement), values)


async def _record(
    connection: AsyncConnection,
    filled: Filled,
    operation: UUID,
    *,
    kind: ClusterKind,
    created_at: datetime,
    finished_at: datetime | None,
) -> None:
    of_project = {"project_id": filled.project.id, "finished_at": finished_at}
    await connection.execute(
        sa.insert(operations).values(
            id=operation,
            cluster_id=filled.cluster,
            kind=kind.name,
            state="running" if finished_at is None else "succeeded",
            request_id="req-filled",
            requested_by=filled.project.token.id,
            progress=0 if finished_at is None else 100,
            created_at=created_at,
            started_at=created_at,
            deadline_at=FAR_AWAY,
            expected_at=FAR_AWAY,
            **of_project,
        )
    )
    state = "pending" if finished_at is None else "succeeded"
    steps = [
        {"operation_id": operation, "ordinal": at, "name": step.name, "stage": step.stage.name, "state": state}
        for at, step in enumerate(kind.steps, start=1)
    ]
    await connection.execute(sa.insert(operation_steps), [step | of_project for step in steps])


async def _show(connection: AsyncConnection, filled: Filled) -> None:
    """A host that failed, and a machine that shows another serial number than expected."""
    await report(
        connection, kind="host", object_id=filled.host, source=Source.HOST, code=Code.HOST_FAILED, detail="no heartbeat"
    )
    region = LUXEMBOURG[0]
    await replace(connection, region, [{"kind": "machine", "name": "m0", "serial": "GC1"}], str(new_id()))
    await write_shown(connection, region, "machine", [Shown("m0", serial="GC2")])
    await record_changes(connection, region, "machine", [Change("m0", Happened.ADDED, "the site's inventory lists it")])


async def _bill(connection: AsyncConnection, account_id: UUID, values: Mapping[str, object]) -> None:
    """An invoice for the month, with all that may settle it."""
    await add_tax_rate(connection)
    one = Money.of("1.00", "EUR")
    credit = await grant(connection, account_id, one, reason="welcome", expires_at=datetime(2126, 1, 1, tzinfo=UTC))
    number = await issue_in(connection, Bill(account_id, "EUR", READY_AT.date().replace(day=1)))
    assert number is not None
    await record_payment(connection, account_id, one, reference="first", invoice=number)
    await expect_payment(connection, account_id, one)
    await set_dunning(connection, account_id, DunningPolicy())
    await _run(connection, _PARTS["billed"], values)
    await issue_credit_note(connection, number, net=Decimal("0.50"), reason="a rack lost power")
    await keep_money(connection, account_id, "filled", MoneyRequest(b"\0" * 32, credit_id=credit))
