"""`ipucloud site`."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

import typer

from ipucloud.cli import output
from ipucloud.cli.examples import with_examples
from ipucloud.cli.service.connections import database_of, settings_at_hand, sites_of
from ipucloud.cli.service.failures import exit_on_error
from ipucloud.cli.session import Json
from ipucloud.config import Settings
from ipucloud.inventory.sync import Synced, sync

app = typer.Typer(no_args_is_help=True, help="Read a site's hardware into the inventory.")


@app.callback()
def site() -> None:
    pass


@app.command("sync", cls=with_examples())
def site_sync(as_json: Json = False) -> None:
    """Register the hardware that the site lists. Safe to repeat; hardware no longer listed is kept.

    Without IPUCLOUD_DATABASE_URL, that of the `ipucloud up` running from IPUCLOUD_DATA_DIR.
    """
    with exit_on_error():
        found = asdict(asyncio.run(_sync(settings_at_hand("database_url", "site_url", with_site=True))))
    if as_json:
        output.write_json(found)
    else:
        output.write_facts(found.items())


async def _sync(settings: Settings) -> Synced:
    async with database_of(settings) as database, sites_of(settings) as sites:
        return await sync(database, sites, validated="intake" in settings.validation)
