"""The event of a credit note, whatever it was issued for."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads import CreditNoteNumbered
from ipucloud.contract.event_types import CREDIT_NOTE_ISSUED
from ipucloud.contract.invoices import InvoiceOut
from ipucloud.events.log import record


async def tell_credit_note(
    connection: AsyncConnection, credit_note_id: UUID, project_id: UUID, document: InvoiceOut
) -> None:
    """Record that it was issued, for the only project that it is about."""
    corrects = [each.number for each in document.corrects or ()]
    data = CreditNoteNumbered(number=document.number or "", corrects=corrects)
    await record(connection, CREDIT_NOTE_ISSUED, project_id=project_id, subject_id=credit_note_id, data=data)
