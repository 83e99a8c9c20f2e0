"""Planned maintenance: announced to the customers who hold the hardware, which nobody else gets from then on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.admin.actions import Operator, Target, changed, kind_of, record_order, select
from ipucloud.config import Settings
from ipucloud.contract.event_payloads.clusters import MaintenanceOf
from ipucloud.contract.event_types.clusters import MAINTENANCE_ANNOUNCED
from ipucloud.contract.event_types.platform import HARDWARE_MAINTAINED
from ipucloud.contract.operator_hardware import HardwareMaintenance
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.reports import report
from ipucloud.kernel.errors import VALIDATION_FAILED, FieldError, Problem
from ipucloud.policies.repairs import arrange

FURTHEST = timedelta(days=366)

_NOW = Query("SELECT app_now() AS now", datetime)


async def maintain(connection: AsyncConnection, order: HardwareMaintenance, by: Operator, *, settings: Settings) -> str:
    """Begin maintenance of what no cluster holds, announce that of the rest, and return what is true then, as JSON.

    What is maintained later, or held by a cluster, is drained until then. Raises `Problem` validation_failed, also when
    customers would have less notice than `maintenance_notice`; then nothing has changed.
    """
    targets = await select(connection, order)
    now = await _NOW.one(connection)
    _check(order, targets, now, settings)
    starts_at = order.starts_at or now
    for target in targets:
        later = target.in_use or starts_at > now
        await report(
            connection,
            kind=kind_of(target),
            object_id=target.id,
            source=Source.OPERATOR,
            code=Code.DRAIN if later else Code.MAINTENANCE,
            detail=order.reason,
            created_by=str(by.token),
            expires_at=order.expires_at,
            maintenance_at=starts_at if later else None,
            cluster_id=target.cluster_id,
        )
    for project_id, cluster_id in sorted({each.holder for each in targets if each.holder is not None}):
        names = [each.name for each in targets if each.in_use and each.cluster_id == cluster_id]
        await record(
            connection,
            MAINTENANCE_ANNOUNCED,
            project_id=project_id,
            subject_id=cluster_id,
            request_id=by.request_id,
            data=MaintenanceOf(hardware=sorted(names), starts_at=starts_at, urgent=order.urgent),
        )
        await arrange(connection, project_id, cluster_id, settings, request_id=by.request_id)
    await record_order(connection, HARDWARE_MAINTAINED, targets, by, reason=order.reason, starts_at=order.starts_at)
    return await changed(connection, targets)


def _check(order: HardwareMaintenance, targets: Sequence[Target], now: datetime, settings: Settings) -> None:
    """Raise `Problem` for a time that is past, too far away, or too soon for who holds the hardware."""
    if order.starts_at is not None and not now < order.starts_at <= now + FURTHEST:
        raise _refused("not_in_future", "Choose a time within the next year, or none to begin now.")
    held = [each.name for each in targets if each.in_use]
    notice = timedelta(seconds=settings.maintenance_notice)
    if held and not order.urgent and (order.starts_at or now) < now + notice:
        raise _refused(
            "too_soon",
            f"A cluster holds {held[0]}, and its customer must know {notice.total_seconds() / 3600:g} hours before. "
            "Choose a later time, or send `urgent` if the work cannot wait.",
        )


def _refused(code: str, sentence: str) -> Problem:
    return Problem(
        VALIDATION_FAILED,
        "Maintenance cannot begin then; nothing was changed.",
        [FieldError("/starts_at", code, sentence)],
    )
