"""Connections of service commands."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from pydantic import SecretStr

from ipucloud.cli.service.failures import require, settings_from_environment, stop
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.site.connect import SiteClients

CONNECTIONS = "connections.json"
"""File in the data directory with the settings to reach a running system's database and site."""

SITE_SECRETS = ("site_token", "vipu_access_key")
NOT_WRITTEN = "not_written"
"""Where it names those of them that the running system was given: secrets of others are not written down."""


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


class Running(NamedTuple):
    """How to reach a system that runs; `missing` are secrets of its site that have to be given again."""

    settings: Settings
    missing: Sequence[str]

    @property
    def advice(self) -> str:
        """What to do about those that are missing."""
        variables = " and ".join(f"IPUCLOUD_{name.upper()}" for name in self.missing)
        return f"Set {variables} as for the running `ipucloud up`: it does not write down the secrets it was given."


def settings_at_hand(*needed: str, with_site: bool = False) -> Settings:
    """The settings of IPUCLOUD_* variables; without a database among them, those of the running `ipucloud up`.

    Ends the command if one that is `needed` is missing; `with_site`: or a secret of the site, if there is one.
    """
    settings = settings_from_environment()
    if settings.database_url is None:
        running = running_at(settings.data_dir)
        if running is None:
            stop("Set IPUCLOUD_DATABASE_URL, or IPUCLOUD_DATA_DIR to the data directory of a running `ipucloud up`.")
        if with_site and running.missing:
            stop(running.advice)
        settings = running.settings
    require(settings, needed)
    return settings


def running_at(data_dir: Path) -> Running | None:
    """How to reach the system running from `data_dir` with its own database, if there is one."""
    try:
        connections = json.loads((data_dir / CONNECTIONS).read_text())
    except FileNotFoundError:
        return None
    not_written = connections.pop(NOT_WRITTEN, [])
    settings = Settings(**connections)
    if settings.database_url is None:
        return None
    return Running(settings, [name for name in not_written if getattr(settings, name) is None])
