"""What an operator does with a work item: make it due, or set it aside."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query

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
