"""The log of repairs: who requested what, when, and the result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.platform import AuditRepair
from ipucloud.contract.event_types.platform import AUDIT_REPAIRED
from ipucloud.events.log import record, record_for_operators
from ipucloud.invariants.rules import Finding, RepairDone
from ipucloud.invariants.worker_repairs import REQUEST_ID
from ipucloud.kernel.ids import new_id

_WRITE = sa.text(
    """
    INSERT INTO repairs (id, rule, object_type, object_id, detail, action, requested_by, project_id, region,
                         operation_id, state, error, finished_at)
    VALUES (:id, :rule, :object_type, :object_id, :detail, :action, :requested_by, :project_id, :region,
            :operation_id, :state, :error, CASE WHEN :finished THEN app_now() END)
    """
).bindparams(sa.bindparam("finished", type_=sa.Boolean))
_END = sa.text("UPDATE repairs SET state = :state, error = :error, finished_at = app_now() WHERE id = :id")


@dataclass(frozen=True, slots=True)
class Entry:
    """One repair as logged."""

    finding: Finding
    action: str
    requested_by: str

    async def done(self, connection: AsyncConnection, done: RepairDone) -> None:
        """Log a database repair in its own transaction."""
        entry = self if done.did is None else replace(self, action=done.did)
        entry_id = await entry._write(connection, "succeeded", operation_id=done.operation_id)
        await entry._record_event(connection, entry_id, done.operation_id)

    async def failed(self, connection: AsyncConnection, error: str) -> None:
        """Log a repair whose own transaction was rolled back."""
        await self._write(connection, "failed", error=error)

    async def begin(self, connection: AsyncConnection) -> UUID:
        """Log a repair before it sends anything to a site; the caller commits this first."""
        return await self._write(connection, "running")

    async def end(self, connection: AsyncConnection, repair_id: UUID, error: str | None) -> None:
        """Record that the repair succeeded, or failed with `error`."""
        state = "succeeded" if error is None else "failed"
        await connection.execute(_END, {"id": repair_id, "state": state, "error": error})
        if error is None:
            await self._record_event(connection, repair_id, None)

    async def _write(
        self, connection: AsyncConnection, state: str, *, operation_id: UUID | None = None, error: str | None = None
    ) -> UUID:
        violation, repair_id = self.finding.violation, new_id()
        await connection.execute(
            _WRITE,
            {
                "id": repair_id,
                "rule": self.finding.rule.name,
                "object_type": self.finding.rule.object_type,
                "object_id": violation.object_id,
                "detail": violation.detail,
                "action": self.action,
                "requested_by": self.requested_by,
                "project_id": violation.project_id,
                "region": violation.region,
                "operation_id": operation_id,
                "state": state,
                "error": error,
                "finished": state != "running",
            },
        )
        return repair_id

    async def _record_event(self, connection: AsyncConnection, repair_id: UUID, operation_id: UUID | None) -> None:
        """Append the event for the object's project; without one, for operators."""
        violation = self.finding.violation
        done = AuditRepair(rule=self.finding.rule.name, action=self.action)
        if violation.project_id is None:
            await record_for_operators(
                connection,
                AUDIT_REPAIRED,
                region=violation.region,
                subject_type="repair",
                subject_id=repair_id,
                request_id=REQUEST_ID,
                data=done,
            )
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
            data=done,
        )


def _identity(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
