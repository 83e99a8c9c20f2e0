"""Records that are no longer kept, and freezes that have expired."""

from __future__ import annotations

import structlog

from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.identity import audit_log
from ipucloud.notifications.store import SWEEP as SWEEP_MAILS
from ipucloud.operations.freezes import expire_freezes
from ipucloud.webhooks import store as webhooks

log = structlog.get_logger(__name__)


async def sweep_deliveries(database: Database) -> None:
    """Delete the records of old webhook deliveries and e-mails."""
    async with database.begin() as connection:
        await webhooks.sweep(connection)
        await connection.execute(SWEEP_MAILS)


async def prune_audit_log(database: Database, settings: Settings) -> None:
    """Remove entries of the audit log that are old enough, if there is such an age."""
    if settings.audit_log_days is not None and (removed := await audit_log.prune(database, settings.audit_log_days)):
        log.info("audit_log_pruned", removed=removed)


async def end_expired_freezes(database: Database) -> None:
    """End the freezes of removals that have expired, with their events."""
    async with database.begin() as connection:
        expired = await expire_freezes(connection)
    for freeze in expired:
        log.warning("removals_unfrozen", freeze_id=str(freeze.id), region=freeze.region, reason=freeze.reason)
