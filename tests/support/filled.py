"""A sound database with at least one row in every table: a cluster that lived an hour and is being deleted."""

from __future__ import annotations

import asyncio

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.operations.kind import WORK_KIND
from ipucloud.db.engine import Database
from ipucloud.events.tables import events
from ipucloud.idempotency.tables import idempotency_keys
from ipucloud.invariants.tables import repairs
from ipucloud.kernel.ids import new_id
from ipucloud.reconcile.tables import work
from tests.support.factories import make_project, seed_world
from tests.support.filled_cluster import fill_cluster
from tests.support.filled_exports import fill_exports
from tests.support.filled_hardware import fill_hardware
from tests.support.filled_invoices import fill_invoices
from tests.support.filled_ledger import fill_ledger
from tests.support.filled_names import DELETED_AT, READY_AT, Filled
from tests.support.filled_people import fill_people
from tests.support.filled_programs import fill_programs
from tests.support.filled_project import fill_project
from tests.support.filled_usage import fill_usage


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
    await fill_cluster(connection, filled)
    await fill_project(connection, filled)
    await fill_programs(connection, filled)
    await _traces(connection, filled)
    await fill_people(connection, filled)
    await fill_hardware(connection, filled)
    await fill_usage(connection, filled)
    await fill_ledger(connection, project_id=filled.project.id, hour=READY_AT)
    await fill_exports(connection, project_id=filled.project.id)
    await fill_invoices(connection, account_id=filled.project.id, month=READY_AT.date().replace(day=1))
    return filled


async def _traces(connection: AsyncConnection, filled: Filled) -> None:
    """What the operations left: a work item, events, a stored answer, and a repair by the audit."""
    project = filled.project.id
    await connection.execute(
        sa.insert(work).values(kind=WORK_KIND, key=str(filled.cluster), project_id=project, run_at=DELETED_AT)
    )
    for kind, operation in (
        ("cluster.created", None),
        ("operation.created", filled.finished_operation),
        ("operation.succeeded", filled.finished_operation),
        ("cluster.deleting", None),
        ("operation.created", filled.open_operation),
    ):
        await connection.execute(
            sa.insert(events).values(
                project_id=project,
                type=kind,
                subject_type="cluster",
                subject_id=filled.cluster,
                operation_id=operation,
                request_id="req-filled",
            )
        )
    await connection.execute(
        sa.insert(idempotency_keys).values(
            scope=project, key="filled", fingerprint=b"\0" * 32, status=202, body=b"{}", subject_id=filled.cluster
        )
    )
    await connection.execute(
        sa.insert(repairs).values(
            id=new_id(),
            rule="cluster_being_deleted_has_its_operation",
            object_type="cluster",
            object_id=str(filled.cluster),
            detail="nothing deletes the cluster",
            action="has a worker delete the cluster again",
            requested_by="operator@console",
            project_id=project,
            operation_id=filled.open_operation,
            state="succeeded",
            finished_at=DELETED_AT,
        )
    )
