"""What a worker does about hardware on its own account: the inventory, and repairs."""

from __future__ import annotations

from ipucloud.clusters.operations.replace import replace_hardware
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.inventory.sync import sync
from ipucloud.observation.reconciler import ensure_observation
from ipucloud.policies.repairs import start_repairs
from ipucloud.site.ports import Sites


async def sync_inventory(database: Database, sites: Sites, settings: Settings) -> None:
    await sync(database, sites, validated="intake" in settings.validation)
    await ensure_observation(database, settings.observation_interval)


async def begin_repairs(database: Database, settings: Settings) -> None:
    await start_repairs(settings, replace_hardware, database)
