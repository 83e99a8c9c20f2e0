"""Metrics of operations."""

from __future__ import annotations

import sqlalchemy as sa
from prometheus_client import Counter
from sqlalchemy.ext.asyncio import AsyncConnection

FAILED = Counter("operations_failed", "Operations that failed, by kind and the error's code", ["kind", "cause"])


def count_failure(connection: AsyncConnection, *, kind: str, cause: str) -> None:
    """Count the failure when the connection's transaction is committed: a result may still be dropped."""

    def count(_: sa.Connection) -> None:
        FAILED.labels(kind, cause).inc()

    sa.event.listen(connection.sync_connection, "commit", count, once=True)
