"""Connections of service commands."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from ipucloud.cli.service.failures import require, settings_from_environment, stop
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.site.connect import SiteClients

CONNECTIONS = "connections.json"
"""File in the data directory with the settings to reach a running system's database and site."""


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
    """The text of a secret; empty if None."""
    return "" if secret is None else secret.get_secret_value()


def settings_at_hand(*needed: str) -> Settings:
    """The settings of IPUCLOUD_* variables; without a database among them, those of the running `ipucloud up`.

    Ends the command if one that is `needed` is missing.
    """
    settings = settings_from_environment()
    if settings.database_url is None:
        found = running_at(settings.data_dir)
        if found is None:
            stop("Set IPUCLOUD_DATABASE_URL, or IPUCLOUD_DATA_DIR to the data directory of a running `ipucloud up`.")
        settings = found
    require(settings, needed)
    return settings


def running_at(data_dir: Path) -> Settings | None:
    """The settings to reach the system running from `data_dir` with its own database, if there is one."""
    try:
        connections = (data_dir / CONNECTIONS).read_text()
    except FileNotFoundError:
        return None
    settings = Settings(**json.loads(connections))
    return None if settings.database_url is None else settings
