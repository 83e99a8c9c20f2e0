"""Who waits for a lock in vain is told so, not that the database does not answer."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from ipucloud.db.engine import Database
from ipucloud.kernel.errors import UNAVAILABLE, Problem
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

LOCKS = {
    "a row": "SELECT FROM work WHERE key = 'x' FOR UPDATE",
    "a number": "SELECT pg_advisory_xact_lock(1)",
    "a table": "LOCK TABLE work IN EXCLUSIVE MODE",
    "a unique value": "INSERT INTO work (kind, key, project_id) VALUES ('cluster', '{patience}', gen_random_uuid())",
}
PATIENCES = ("lock_timeout", "statement_timeout")


async def test_a_lock_that_stays_taken_is_no_outage(database: Scratch) -> None:
    db = Database(database.app_url, pool_size=2)
    try:
        async with db.begin() as connection:
            await connection.execute(
                sa.text("INSERT INTO work (kind, key, project_id) VALUES ('cluster', 'x', gen_random_uuid())")
            )
        for name, lock in LOCKS.items():
            for patience in PATIENCES:
                async with db.begin() as holder:
                    await holder.execute(sa.text(lock.format(patience=patience)))
                    with pytest.raises(Problem) as caught:
                        await _wait(db, patience, lock)
                assert caught.value.kind is UNAVAILABLE, name
                assert caught.value.headers["Retry-After"], name
                assert "does not answer" not in caught.value.detail, name
                assert "Nothing was changed" in caught.value.detail, name
    finally:
        await db.close()


async def _wait(db: Database, patience: str, lock: str) -> None:
    async with db.begin() as waiter:
        await waiter.execute(sa.text(f"SET LOCAL {patience} = '20ms'"))
        await waiter.execute(sa.text(lock.format(patience=patience)))
