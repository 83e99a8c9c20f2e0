"""What a filled cluster is billed for: a closed interval, and one with a fault that is credited."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.tables import usage_credits, usage_intervals
from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.tables import health_reports
from ipucloud.kernel.ids import new_id
from tests.support.factories import LUXEMBOURG
from tests.support.filled_names import DELETED_AT, READY_AT, Filled


async def fill_usage(connection: AsyncConnection, filled: Filled) -> None:
    await connection.execute(
        sa.insert(usage_intervals).values(id=new_id(), **_used(filled), started_at=READY_AT, ended_at=DELETED_AT)
    )
    await _credit(connection, filled)


async def _credit(connection: AsyncConnection, filled: Filled) -> None:
    """The machine failed in the second in which the deletion was requested, and was replaced: no minute is credited."""
    interval, fault = new_id(), new_id()
    await connection.execute(
        sa.insert(usage_intervals).values(
            id=interval, **_used(filled), credited=1, started_at=DELETED_AT, ended_at=DELETED_AT
        )
    )
    await connection.execute(
        sa.insert(health_reports).values(
            id=fault,
            region=LUXEMBOURG[0],
            machine_id=filled.machine,
            source=Source.BMC,
            code=Code.BMC_CRITICAL,
            allocation="prevented",
            credited=True,
            detail="Health: Critical",
            message="The machine has failed.",
            first_seen_at=DELETED_AT,
            confirmed_at=DELETED_AT,
            last_seen_at=DELETED_AT,
            good_since=DELETED_AT,
            cleared_at=DELETED_AT,
        )
    )
    await connection.execute(
        sa.insert(usage_credits).values(project_id=filled.project.id, interval_id=interval, report_id=fault)
    )


def _used(filled: Filled) -> dict[str, object]:
    return {
        "project_id": filled.project.id,
        "resource_id": filled.cluster,
        "flavor": "m2000-pod4",
        "sku": "ipu-m2000",
        "region": "luxembourg-2",
        "currency": "EUR",
        "quantity": 1,
        "anchor_at": READY_AT,
    }
