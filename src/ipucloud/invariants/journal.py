"""The log of repairs: who requested what, when, and the result."""

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
    """One repair as logged."""

    finding: Finding
    action: str
    requested_by: str

    async def done(self, connection: AsyncConnection, done: RepairDone) -> None:
        """Log a database repair in its own transaction."""
        await self._insert(connection, state="succeeded", finished_at=DB_NOW, operation_id=done.operation_id)
        await self._record_event(connection, done.operation_id)

    async def failed(self, connection: AsyncConnection, error: str) -> None:
        """Log a repair whose own transaction was rolled back."""
        await self._insert(connection, state="failed", finished_at=DB_NOW, error=error)

    async def begin(self, connection: AsyncConnection) -> UUID:
        """Log a repair before it sends anything to a site; the caller commits this first."""
        return await self._insert(connection, state="running")

    async def end(self, connection: AsyncConnection, repair_id: UUID, error: str | None) -> None:
        """Record that the repair succeeded, or failed with `error`."""
        state = "succeeded" if error is None else "failed"
        ended = sa.update(repairs).where(repairs.c.id == repair_id)
        await connection.execute(ended.values(state=state, error=error, finished_at=DB_NOW))
        if error is None:
            await self._record_event(connection, None)

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

    async def _record_event(self, connection: AsyncConnection, operation_id: UUID | None) -> None:
        """Append the event for the object's project."""
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
