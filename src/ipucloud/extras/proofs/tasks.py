"""What workers do for proofs."""

from __future__ import annotations

import structlog

from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.extras.proofs.sign import sign_months
from ipucloud.kernel.sealing import read_keys

log = structlog.get_logger(__name__)


async def prove_bills(database: Database, settings: Settings) -> None:
    """Sign sealed months. Without a key nothing is signed, and no invoice has a proof."""
    if settings.secrets_key is not None:
        for month in await sign_months(database, read_keys(settings.secrets_key.get_secret_value())):
            log.info("month_signed", month=month.isoformat())
