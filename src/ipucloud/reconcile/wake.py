"""Waking work items: the row that makes one due, its notification, and what an operator does with an item.

The wake itself is a row in the caller's transaction. The notification only shortens the wait of an idle worker; it is
sent after the commit, on its own connection and at most every few milliseconds, because a NOTIFY inside every
transaction costs a third of the commits when there are many writers.
"""

from __future__ import annotations

import asyncio
import contextlib
from uuid import UUID

import psycopg
import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.documents import Fragment, clauses
from ipucloud.db.engine import APPLICATION
from ipucloud.db.rows import Query
from ipucloud.kernel.failpoints import failpoint

log = structlog.get_logger(__name__)


CHANNEL = "ipucloud_work"
THROTTLE_SECONDS = 0.002
PLATFORM = UUID(int=0)
"""The project of work items that belong to no customer."""


WAKE = Fragment("INSERT INTO work (kind, key, project_id, run_at)")
"""Begins a statement that wakes objects; what follows gives the rows, each object once, `run_at` being `app_now()`."""
AWAKE = Fragment(
    """
    ON CONFLICT (kind, key) DO UPDATE
       SET wake_seq = work.wake_seq + 1, run_at = least(work.run_at, app_now()), parked_at = NULL
    """
)
"""Ends what `WAKE` begins."""
_WAKE = sa.text(clauses(WAKE, "VALUES (:kind, :key, :project_id, app_now())", AWAKE))


async def wake(connection: AsyncConnection, *, kind: str, key: str, project_id: UUID = PLATFORM) -> None:
    """Make the object due as soon as the caller's transaction commits, parked or not.

    A wake during a pass is never lost: when the pass ends, `wake_seq` has moved, and the object is due again.
    """
    await connection.execute(_WAKE, {"kind": kind, "key": key, "project_id": project_id})


class Notifier:
    """Sends `NOTIFY` after commits, throttled, on a connection of its own.

    A lost notification costs at most one poll interval of the worker, so errors are only logged.
    """

    def __init__(self, database_url: str, application: str = APPLICATION) -> None:
        self._url = database_url
        self._application = application
        self._poked = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="notifier")

    def poke(self) -> None:
        """Call after a commit that woke something. Never blocks, never fails."""
        self._poked.set()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        while True:
            await self._poked.wait()
            try:
                async with await psycopg.AsyncConnection.connect(
                    self._url, autocommit=True, fallback_application_name=self._application, connect_timeout=3
                ) as connection:
                    await self._send(connection)
            except psycopg.Error as error:
                log.warning("notify_failed", error=type(error).__name__)
                await asyncio.sleep(1.0)

    async def _send(self, connection: psycopg.AsyncConnection) -> None:
        while True:
            await self._poked.wait()
            self._poked.clear()
            failpoint("notifier.before_send")
            await connection.execute(f"NOTIFY {CHANNEL}")
            failpoint("notifier.sent")
            await asyncio.sleep(THROTTLE_SECONDS)


_REQUEUE = Query(
    """
    UPDATE work SET wake_seq = wake_seq + 1, run_at = app_now(), parked_at = NULL, attempt = 0
     WHERE kind = :kind AND key = :key RETURNING true
    """,
    bool,
)
# The next fence makes a pass that is under way lose its lease, as it would to another worker.
_PARK = Query(
    """
    UPDATE work SET parked_at = app_now(), run_at = NULL, lease_owner = NULL, lease_until = NULL, fence = fence + 1,
                    last_error = :error
     WHERE kind = :kind AND key = :key RETURNING true
    """,
    bool,
)


async def requeue(connection: AsyncConnection, *, kind: str, key: str) -> bool:
    """Make the work item due, parked or not, and forget its failed passes. False if it does not exist."""
    return await _REQUEUE.one_or_none(connection, {"kind": kind, "key": key}) is not None


async def park(connection: AsyncConnection, *, kind: str, key: str, reason: str) -> bool:
    """Set the work item aside until it is woken; a pass under way writes nothing more. False if it does not exist."""
    error = f"parked by an operator: {reason}"
    return await _PARK.one_or_none(connection, {"kind": kind, "key": key, "error": error}) is not None
