"""What a service command opens for as long as it runs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.site.connect import SiteClients

CONNECTIONS = "connections.json"
"""Where in the data directory a system that runs from it keeps the settings that reach its database and its site."""


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


def running_at(data_dir: Path) -> Settings | None:
    """The settings that reach the system that runs from `data_dir`, if one does with a database of its own."""
    try:
        connections = (data_dir / CONNECTIONS).read_text()
    except FileNotFoundError:
        return None
    settings = Settings(**json.loads(connections))
    return None if settings.database_url is None else settings
