"""Repairs of the books that do again what a worker does: close an hour, verify a month, judge overdue invoices."""

from __future__ import annotations

from datetime import UTC, date, datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.dunning.watch import enter_restriction
from ipucloud.billing.ledger.close import adopt_hour
from ipucloud.billing.ledger.months import verify_month
from ipucloud.invariants.rules import DatabaseRepair, Decision, Refused, RepairDone, Violation


async def _adopt(connection: AsyncConnection, violation: Violation) -> RepairDone:
    hour = datetime.strptime(violation.object_id, "%Y-%m-%dT%H").replace(tzinfo=UTC)
    if not await adopt_hour(connection, hour):
        raise Refused("The hour is closed, or not over yet: an hour is closed when it is over.")
    return RepairDone()


async def _verify(connection: AsyncConnection, violation: Violation) -> RepairDone:
    hours = await verify_month(connection, date.fromisoformat(violation.object_id))
    if hours == 0:
        raise Refused("Nothing was left to repair.")
    return RepairDone(did=f"{VERIFIED.does} ({hours} hours)")


async def _enter(connection: AsyncConnection, violation: Violation) -> RepairDone:
    if not await enter_restriction(connection, UUID(violation.object_id)):
        raise Refused("Nothing was left to repair.")
    return RepairDone()


CLOSED = Decision(
    "closes the hour: transfers its charges, and posts the difference to its usage as a correction",
    _adopt,
    "Something other than the close posted charges; a person must find it first, or it goes on.",
)
VERIFIED = DatabaseRepair(
    "closes and verifies the hours, and charges what differs from their usage to the open month", _verify
)
ENTERED = DatabaseRepair("enters the restriction that follows from the invoices, and reports it", _enter)
