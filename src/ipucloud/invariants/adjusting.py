"""Repairs of the ledger by adjusting entries: shown before, posted for a reason, logged with both."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, date, datetime
from functools import partial
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.dunning.watch import enter_restriction
from ipucloud.billing.invoices.adjusting import Compare, adjust, planned, told
from ipucloud.billing.invoices.recorded import Comparison, of_balance, of_hour, of_invoice, of_record
from ipucloud.billing.ledger.close import adopt_hour
from ipucloud.billing.ledger.months import verify_month
from ipucloud.db.statements import Statements
from ipucloud.invariants.rules import Adjustment, DatabaseRepair, Decision, Refused, RepairDone, Violation

_DOES = "posts adjusting entries for the difference"
_REASON = "Money was posted wrongly or not at all; a person must find the cause first, and give a reason with --reason."

Read = Callable[[Statements, str], Awaitable[Comparison | None]]
"""Compares what is recorded of an object with what was posted."""


def by_entries(read: Read) -> Adjustment:
    """The repair of a rule whose objects `read` compares."""

    def compare(violation: Violation) -> Compare:
        return partial(_read, read, violation.object_id)

    async def preview(connection: Statements, violation: Violation) -> Sequence[str]:
        return [told(move) for move in await planned(connection, compare(violation))]

    async def run(connection: AsyncConnection, violation: Violation, reason: str) -> RepairDone:
        moves = await adjust(connection, compare(violation), reason)
        if not moves:
            raise Refused("Nothing was left to repair.")
        return RepairDone(did=f"{_DOES} ({'; '.join(map(told, moves))}), because: {reason}")

    async def without_reason(_: AsyncConnection, __: Violation) -> RepairDone:
        raise Refused("An adjusting entry needs a reason: give it with --reason.")

    return Adjustment(_DOES, without_reason, _REASON, preview, run)


async def _read(read: Read, object_id: str, connection: Statements) -> Comparison | None:
    return await read(connection, object_id)


async def _of_hour(connection: Statements, object_id: str) -> Comparison:
    hour, account, currency = object_id.split()
    return await of_hour(
        connection, datetime.strptime(hour, "%Y-%m-%dT%H").replace(tzinfo=UTC), UUID(account), currency
    )


async def _of_record(connection: Statements, object_id: str) -> Comparison | None:
    kind, record_id = object_id.split(" ", 1)
    return await of_record(connection, kind, record_id)


async def _of_balance(code: str, connection: Statements, object_id: str) -> Comparison:
    account, currency = object_id.split()
    return await of_balance(connection, UUID(account), currency, code)


OF_INVOICE = by_entries(of_invoice)
OF_HOUR = by_entries(_of_hour)
OF_RECORD = by_entries(_of_record)
OF_PROMO = by_entries(partial(_of_balance, "promo"))
OF_WALLET = by_entries(partial(_of_balance, "wallet"))


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
