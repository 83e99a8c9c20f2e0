"""What workers do on their own account."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from ipucloud.idempotency import store as idempotency
from ipucloud.policies.expiry import delete_expired_clusters
from tests.support.postgres import Database as Scratch
from tests.support.world import World, open_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(database: Scratch) -> AsyncIterator[World]:
    """Its hardware is rows."""
    async with open_world(database.app_url, sound=False) as world:
        yield world


async def test_a_cluster_past_its_end_is_deleted_unless_protected(world: World) -> None:
    for name in ("over", "guarded", "later"):
        await world.create(name)
    await world.execute("UPDATE clusters SET expires_at = app_now() - interval '1 minute' WHERE name <> 'later'")
    await world.execute("UPDATE clusters SET delete_protection = true WHERE name = 'guarded'")
    await delete_expired_clusters(world.database, world.settings)
    assert await world.column("SELECT name FROM clusters WHERE state = 'deleting'") == ["over"]
    await delete_expired_clusters(world.database, world.settings)
    assert await world.value("SELECT count(*) FROM operations WHERE kind = 'cluster.delete'") == 1


async def test_stored_answers_go_a_day_after_the_cluster_they_made(world: World) -> None:
    await world.create()
    await world.execute(
        """
        INSERT INTO idempotency_keys (scope, key, fingerprint, status, body, subject_id, created_at)
        SELECT c.project_id, kept.key, '\\x', 202, '\\x', CASE WHEN kept.of_cluster THEN c.id END, app_now() - kept.age
          FROM clusters c, (VALUES ('kept', true, interval '9 days'), ('fresh', false, interval '0'),
                                   ('old', false, interval '25 hours')) AS kept (key, of_cluster, age)
        """
    )
    await idempotency.sweep(world.database)
    assert await world.column("SELECT key FROM idempotency_keys ORDER BY key") == ["fresh", "kept"]
