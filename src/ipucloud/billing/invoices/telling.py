"""Events of issued documents."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.money import CreditNoteNumbered, InvoiceNumbered
from ipucloud.contract.event_types.money import CREDIT_NOTE_ISSUED, INVOICE_ISSUED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.invoices import InvoiceOut
from ipucloud.events.log import record, record_for_account


async def tell_invoice(
    connection: AsyncConnection, invoice_id: UUID, account_id: UUID, projects: Collection[UUID], number: str
) -> None:
    """Record that it was issued, for the account's payers, and for the project if all charges are its own."""
    data = InvoiceNumbered(number=number)
    await _tell(connection, INVOICE_ISSUED, invoice_id, account_id=account_id, projects=projects, data=data)


async def tell_credit_note(
    connection: AsyncConnection,
    credit_note_id: UUID,
    account_id: UUID,
    projects: Collection[UUID],
    document: InvoiceOut,
) -> None:
    """Record that it was issued, for the account's payers, and for the project if it is about only one."""
    corrects = [each.number for each in document.corrects or ()]
    data = CreditNoteNumbered(number=document.number or "", corrects=corrects)
    await _tell(connection, CREDIT_NOTE_ISSUED, credit_note_id, account_id=account_id, projects=projects, data=data)


async def _tell(
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
