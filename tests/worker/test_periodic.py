"""What workers do on their own account."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import sqlalchemy as sa

from ipucloud.catalogue.load import load
from ipucloud.clusters.operations.create import create
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterCreate
from ipucloud.db.engine import Database
from ipucloud.idempotency import store as idempotency
from ipucloud.policies.expiry import delete_expired_clusters
from tests.support.factories import make_project, seed_prices, seed_region
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio


@pytest.fixture
async def db(database: Scratch) -> AsyncIterator[Database]:
    db = Database(database.app_url, pool_size=2)
    yield db
    await db.close()


async def _clusters(db: Database, *names: str) -> None:
    async with db.begin() as connection:
        project = await make_project(connection)
        await seed_prices(connection)
        await seed_region(connection)
        for name in names:
            body = ClusterCreate(
                name=name,
                region="luxembourg-2",
                flavor="m2000-pod4",
                image="ubuntu-20.04-x64-poplar-1.18.0-3.0.0",
                ssh_keys=["laptop"],
            )
            await create(connection, project.actor, body, catalogue=load(), settings=Settings())


async def _execute(db: Database, statement: str) -> None:
    async with db.begin() as connection:
        await connection.execute(sa.text(statement))


async def _column(db: Database, statement: str) -> list[object]:
    async with db.read() as connection:
        return list((await connection.execute(sa.text(statement))).scalars())


async def test_a_cluster_past_its_end_is_deleted_unless_protected(db: Database) -> None:
    await _clusters(db, "over", "guarded", "later")
    await _execute(db, "UPDATE clusters SET expires_at = app_now() - interval '1 minute' WHERE name <> 'later'")
    await _execute(db, "UPDATE clusters SET delete_protection = true WHERE name = 'guarded'")
    await delete_expired_clusters(db, Settings())
    assert await _column(db, "SELECT name FROM clusters WHERE state = 'deleting'") == ["over"]
    await delete_expired_clusters(db, Settings())
    assert await _column(db, "SELECT count(*) FROM operations WHERE kind = 'cluster.delete'") == [1]


async def test_stored_answers_go_a_day_after_the_cluster_they_made(db: Database) -> None:
    await _clusters(db, "living")
    await _execute(
        db,
        """
        INSERT INTO idempotency_keys (scope, key, fingerprint, status, body, subject_id, created_at)
        SELECT c.project_id, kept.key, '\\x', 202, '\\x', CASE WHEN kept.of_cluster THEN c.id END, app_now() - kept.age
          FROM clusters c, (VALUES ('kept', true, interval '9 days'), ('fresh', false, interval '0'),
                                   ('old', false, interval '25 hours')) AS kept (key, of_cluster, age)
        """,
    )
    await idempotency.sweep(db)
    assert sorted(map(str, await _column(db, "SELECT key FROM idempotency_keys"))) == ["fresh", "kept"]
