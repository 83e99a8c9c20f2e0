"""What an issued document gets: a number without gaps, and an event.

Of each series and year there is a row, locked until the transaction that uses a number ends. If that transaction fails,
its number is used by the next one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.money import CreditNoteNumbered, InvoiceNumbered
from ipucloud.contract.event_types.money import CREDIT_NOTE_ISSUED, INVOICE_ISSUED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.invoices import InvoiceOut
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.events.log import record, record_for_account

_NEXT = Query(
    """
    INSERT INTO invoice_counters AS c (series, year, last) VALUES (:series, :year, 1)
    ON CONFLICT (series, year) DO UPDATE SET last = c.last + 1
    RETURNING last
    """,
    int,
)
TODAY = "(app_now() AT TIME ZONE 'UTC')::date"
"""SQL of the day in UTC."""
_TODAY = Query(f"SELECT {TODAY}", date)  # our own text


@dataclass(frozen=True, slots=True)
class Number:
    series: str
    year: int
    sequence: int

    def __str__(self) -> str:
        return f"{self.series}-{self.year}-{self.sequence:06d}"


async def next_number(connection: AsyncConnection, series: str, day: date) -> Number:
    """The next number of the series in the day's year."""
    sequence = await _NEXT.one(connection, {"series": series, "year": day.year})
    return Number(series, day.year, sequence)


async def today(connection: Statements) -> date:
    """The day in UTC."""
    return await _TODAY.one(connection)


async def record_issued_invoice(
    connection: AsyncConnection, invoice_id: UUID, account_id: UUID, projects: Collection[UUID], number: str
) -> None:
    """Record that it was issued, for the account's payers, and for the project if all charges are its own."""
    data = InvoiceNumbered(number=number)
    await _record_issued(connection, INVOICE_ISSUED, invoice_id, account_id=account_id, projects=projects, data=data)


async def record_issued_credit_note(
    connection: AsyncConnection,
    credit_note_id: UUID,
    account_id: UUID,
    projects: Collection[UUID],
    document: InvoiceOut,
) -> None:
    """Record that it was issued, for the account's payers, and for the project if it is about only one."""
    corrects = [each.number for each in document.corrects or ()]
    data = CreditNoteNumbered(number=document.number or "", corrects=corrects)
    await _record_issued(
        connection, CREDIT_NOTE_ISSUED, credit_note_id, account_id=account_id, projects=projects, data=data
    )


async def _record_issued(
    connection: AsyncConnection,
    event: EventType,
    subject_id: UUID,
    *,
    account_id: UUID,
    projects: Collection[UUID],
    data: BaseModel,
) -> None:
    await record_for_account(connection, event, account_id=account_id, subject_id=subject_id, data=data)
    if len(projects) == 1:
        [project_id] = projects
        await record(connection, event, project_id=project_id, subject_id=subject_id, data=data)
