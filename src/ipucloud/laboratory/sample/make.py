"""The sample of a system on this machine: made once, beside its database and site, before anything else uses them."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import structlog
from pydantic import SecretStr

from ipucloud.catalogue.queries import Catalogue
from ipucloud.cli.service.bootstrapping import bootstrap, knows
from ipucloud.cli.service.connections import database_of, sites_of
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.tenancy import APP_ROLE, OWNER_ROLE
from ipucloud.identity import token_store
from ipucloud.identity.roles import Role
from ipucloud.inventory.sync import sync
from ipucloud.laboratory.sample.clock import DatabaseClock
from ipucloud.laboratory.sample.copies import UrlOf, replacing
from ipucloud.laboratory.sample.fill import fill, unused_months
from ipucloud.laboratory.sample.story import PROJECT
from ipucloud.process.secret_files import read_secret, write_secret

TOKEN = "finance-token"  # a file's name
"""Where in the data directory the sample's token is."""
TOKEN_NAME = "finance"

QUICK = {
    "site_poll_interval": 0.02,
    "request_life": 0.1,
    "poll_seconds": 0.2,
    "site_call_timeout": 20.0,
    "validation": frozenset[str](),
}
"""What suits a simulated site that takes no time."""


class _Invoice(NamedTuple):
    month: str
    number: str


_PROJECT = Query("SELECT id FROM projects WHERE slug = :slug AND deleted_at IS NULL", UUID)
_INVOICES = Query(
    """
    SELECT to_char(i.month, 'YYYY-MM') AS month, i.number
      FROM invoices i JOIN projects p ON p.id = i.account_id WHERE p.slug = :slug ORDER BY i.month LIMIT 2
    """,
    _Invoice,
)


@dataclass(frozen=True)
class Sample:
    """A project with two billed months, written as 2026-05, and a token with the role `billing`.

    `invoice`: the number of the first month's invoice.
    """

    project: str
    months: tuple[str, ...]
    invoice: str
    token: str = field(repr=False)


async def make(
    url_of: UrlOf,
    name: str,
    settings: Settings,
    catalogue: Catalogue,
    report: Callable[[int], None] = lambda _: None,
) -> None:
    """Make the sample in the database `name`; `settings` reach a site with nothing on it.

    Nobody else may use either. `report` hears how many per cent are done. A killed or failed one leaves the database as
    it was. Raises SampleError, and what the product's functions raise.
    """
    async with database_of(_on(settings, url_of(APP_ROLE, name))) as original:
        months = await unused_months(original)
    with _quiet(), replacing(url_of, name) as copy:
        copy_settings = _on(settings.model_copy(update=QUICK), url_of(APP_ROLE, copy))
        async with database_of(copy_settings) as database, sites_of(copy_settings) as sites:
            await sync(database, sites, validated=False)
            await bootstrap(database, catalogue, env=settings.environment)
            await fill(
                database,
                DatabaseClock(url_of(OWNER_ROLE, copy)),
                months,
                sites=sites,
                settings=copy_settings,
                catalogue=catalogue,
                report=report,
            )


async def sample_of(database: Database, settings: Settings) -> Sample | None:
    """The sample in a database, if it is there, with the token kept in the data directory, or a new one."""
    async with database.read() as connection:
        project = await _PROJECT.one_or_none(connection, {"slug": PROJECT})
        invoices = await _INVOICES.all(connection, {"slug": PROJECT})
    if project is None or not invoices:
        return None
    path = settings.data_dir / TOKEN
    token = read_secret(path)
    if token is None or not await knows(database, token):
        async with database.begin() as connection:
            new_token = await token_store.create(
                connection, env=settings.environment, project_id=project, name=TOKEN_NAME, role=Role.BILLING
            )
        token = new_token.secret
        write_secret(path, token)
    return Sample(PROJECT, tuple(row.month for row in invoices), invoices[0].number, token)


@contextmanager
def _quiet() -> Iterator[None]:
    """Log only warnings, not every hour that is closed."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    try:
        yield
    finally:
        structlog.configure(**before)


@contextmanager
def empty_folder(path: Path) -> Iterator[Path]:
    """A folder for the length of the block."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


async def exists(settings: Settings) -> bool:
    """Whether the settings' database has the sample."""
    async with database_of(settings) as database, database.read() as connection:
        return await _PROJECT.one_or_none(connection, {"slug": PROJECT}) is not None


def _on(settings: Settings, url: str) -> Settings:
    return settings.model_copy(update={"database_url": SecretStr(url)})
