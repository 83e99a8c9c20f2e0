"""What the engine requires of a reconciler, and the work item that it passes to one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.engine import Database
from ipucloud.db.rows import Query, Row
from ipucloud.db.schema_check import lacks_table_or_column
from ipucloud.db.statements import Statements
from ipucloud.kernel.clock import Clock
from ipucloud.reconcile.outcomes import Outcome, Wait

log = structlog.get_logger(__name__)

FAILED_SECONDS = 30.0
"""A periodic task that failed is tried again after this many seconds, or after its interval if that is shorter."""

Inputs = TypeVar("Inputs")
Result = TypeVar("Result")


class LeaseLost(Exception):
    """Another worker may hold the object now; the result is discarded."""


@dataclass(slots=True)
class WorkItem:
    """The right to reconcile one object under `fence`, until `deadline` on this process's monotonic clock.

    `attempt` counts the passes since the last progress, this one included. It was committed before this pass began, so
    a pass that kills its process counts too.
    """

    kind: str
    key: str
    project_id: UUID
    fence: int
    attempt: int
    deadline: float
    clock: Clock

    def remaining(self) -> float:
        """Seconds for which a call may still run. Raises LeaseLost when none are left: the call must not be made."""
        seconds = self.deadline - self.clock.monotonic()
        if seconds <= 0:
            raise LeaseLost(self.key)
        return seconds


class Reconciler(Protocol[Inputs, Result]):
    """Load, act, apply. No database session is open while `act` runs, and only `act` calls anything outside."""

    kind: str

    async def load(self, connection: Statements, item: WorkItem) -> Inputs | Outcome:
        """Read every input of `act` in one statement that also checks the lease (`fence`, `lease_until`).

        Returns an Outcome when there is nothing to act on. Raises LeaseLost.
        """

    async def act(self, item: WorkItem, inputs: Inputs) -> Result:
        """Call external systems. A failed or unknown call is part of the result, not an exception."""

    async def apply(self, connection: AsyncConnection, item: WorkItem, inputs: Inputs, result: Result) -> Outcome:
        """Write all consequences. The engine adds the fence check to the transaction, and rolls back a stale result."""


async def inputs_of(connection: Statements, statement: Query[Row], item: WorkItem, **more: object) -> Row:
    """The row of a statement about the work item with `:kind`, `:key` and `:fence`. Raises LeaseLost.

    Its first column says whether the lease still runs. `more` are further parameters.
    """
    row = await statement.one_or_none(connection, {"kind": item.kind, "key": item.key, "fence": item.fence, **more})
    if row is None or not row[0]:
        raise LeaseLost(item.key)
    return row


@dataclass(frozen=True)
class Periodic:
    """A task every `interval` seconds, on one worker at a time. `run` opens its own short transactions."""

    name: str
    interval: float
    run: Callable[[Database], Awaitable[None]]
    kind: str = "periodic"


class PeriodicTasks:
    """Reconciles work items of kind `periodic`; a task unknown to this version waits for a worker that has it.

    A failed task is retried soon and without limit: no request would wake it if it were parked.
    """

    kind = "periodic"

    def __init__(self, database: Database, tasks: list[Periodic]) -> None:
        self._database = database
        self.tasks = {task.name: task for task in tasks}

    async def load(self, connection: Statements, item: WorkItem) -> Periodic | Outcome:
        return self.tasks.get(item.key) or Wait("no such task in this worker", recheck=60.0)

    async def act(self, item: WorkItem, inputs: Periodic) -> str | None:
        """None, or how the task failed."""
        try:
            await inputs.run(self._database)
        except LeaseLost:
            raise
        except Exception as error:  # any failure: the next run may succeed
            if lacks_table_or_column(error):
                raise
            log.exception("periodic_task_failed", task=inputs.name)
            return f"{type(error).__name__}: {error}"[:200]
        return None

    async def apply(
        self,
        connection: AsyncConnection,
        item: WorkItem,
        inputs: Periodic,
        result: str | None,
    ) -> Outcome:
        if result is not None:
            return Wait(result, recheck=min(inputs.interval, FAILED_SECONDS))
        return Wait("next turn", recheck=inputs.interval)
