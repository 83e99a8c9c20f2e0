"""What a worker does on its own account, every so often, on one worker at a time."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.engine import Database
from ipucloud.inventory.sync import sync
from ipucloud.reconcile.reconciler import Periodic
from ipucloud.site.ports import Sites

_SWEEP_KEYS = sa.text(
    """
    DELETE FROM idempotency_keys k
     WHERE k.created_at < app_now() - interval '24 hours'
       AND NOT EXISTS (SELECT 1 FROM clusters c
                        WHERE c.id = k.subject_id
                          AND (c.deleted_at IS NULL OR c.deleted_at > app_now() - interval '24 hours'))
    """
)


async def sweep_idempotency_keys(database: Database) -> None:
    """Forget answers a day after their request, or a day after the cluster they made is gone."""
    async with database.begin() as connection:
        await connection.execute(_SWEEP_KEYS)


def periodic_tasks(sites: Sites) -> list[Periodic]:
    async def sync_inventory(database: Database) -> None:
        await sync(database, sites)

    return [
        Periodic("sweep_idempotency_keys", interval=3600.0, run=sweep_idempotency_keys),
        Periodic("sync_inventory", interval=300.0, run=sync_inventory),
    ]
