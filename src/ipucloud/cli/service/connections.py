"""What a service command opens for as long as it runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import SecretStr

from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.site.connect import SiteClients


@asynccontextmanager
async def database_of(settings: Settings) -> AsyncIterator[Database]:
    database = Database(revealed(settings.database_url))
    try:
        yield database
    finally:
        await database.close()


@asynccontextmanager
async def sites_of(settings: Settings) -> AsyncIterator[SiteClients]:
    sites = SiteClients.of(settings)
    try:
        yield sites
    finally:
        await sites.close()


def revealed(secret: SecretStr | None) -> str:
    """The text of a secret; empty for none."""
    return "" if secret is None else secret.get_secret_value()
