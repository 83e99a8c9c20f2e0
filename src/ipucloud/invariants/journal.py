"""The log of heals: who had what mended, when, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads import AuditRepair
from ipucloud.contract.event_types import AUDIT_REPAIRED
from ipucloud.db.base import DB_NOW
from ipucloud.events.log import record
from ipucloud.invariants.rules import Finding, RepairDone
from ipucloud.invariants.tables import repairs
from ipucloud.invariants.worker_repairs import REQUEST_ID
from ipucloud.kernel.ids import new_id


@dataclass(frozen=True, slots=True)
class Entry:
    """One heal as the log has it."""

    finding: Finding
    action: str
    requested_by: str

    async def done(self, connection: AsyncConnection, done: RepairDone) -> None:
        """Log a heal in the transaction that is the heal."""
        await self._insert(connection, state="succeeded", finished_at=DB_NOW, operation_id=done.operation_id)
        await self._tell(connection, done.operation_id)

    async def failed(self, connection: AsyncConnection, error: str) -> None:
        """Log a heal whose own transaction was rolled back."""
        await self._insert(connection, state="failed", finished_at=DB_NOW, error=error)

    async def begin(self, connection: AsyncConnection) -> UUID:
        """Log a heal that is about to ask something of a site: commit this before anything is asked."""
        return await self._insert(connection, state="running")

    async def end(self, connection: AsyncConnection, repair_id: UUID, error: str | None) -> None:
        """The heal that began is through, or failed with `error`."""
        state = "succeeded" if error is None else "failed"
        ended = sa.update(repairs).where(repairs.c.id == repair_id)
        await connection.execute(ended.values(state=state, error=error, finished_at=DB_NOW))
        if error is None:
            await self._tell(connection, None)

    async def _insert(self, connection: AsyncConnection, **ending: object) -> UUID:
        violation, repair_id = self.finding.violation, new_id()
        await connection.execute(
            sa.insert(repairs).values(
                id=repair_id,
                rule=self.finding.rule.name,
                object_type=self.finding.rule.object_type,
                object_id=violation.object_id,
                detail=violation.detail,
                action=self.action,
                requested_by=self.requested_by,
                project_id=violation.project_id,
                **ending,
            )
        )
        return repair_id

    async def _tell(self, connection: AsyncConnection, operation_id: UUID | None) -> None:
        """The project whose object it was reads it in the event log."""
        violation = self.finding.violation
        if violation.project_id is None:
            return
        about = _identity(violation.object_id)
        await record(
            connection,
            AUDIT_REPAIRED,
            project_id=violation.project_id,
            subject_type="project" if about is None else self.finding.rule.object_type,
            subject_id=about or violation.project_id,
            operation_id=operation_id,
            request_id=REQUEST_ID,
            data=AuditRepair(rule=self.finding.rule.name, action=self.action),
        )


def _identity(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
