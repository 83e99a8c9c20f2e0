"""`ipucloud site`."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer

from ipucloud.cli import output
from ipucloud.cli.examples import with_examples
from ipucloud.cli.service.connections import database_of, settings_at_hand, sites_of
from ipucloud.cli.service.failures import CommandError, exit_on_error
from ipucloud.cli.session import Json
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.inventory.sync import Synced, sync
from ipucloud.inventory.validations import NEW_MACHINES

POLL_SECONDS = 1.0

app = typer.Typer(no_args_is_help=True, help="Read a site's hardware into the inventory.")


@app.callback()
def site() -> None:
    pass


@app.command("sync", cls=with_examples("", "--wait 600"))
def site_sync(
    wait: Annotated[
        float | None,
        typer.Option(
            min=0.0, help="Seconds to wait until workers have validated the new machines, so that clusters get them."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Register the hardware that the site lists. Safe to repeat; hardware no longer listed is kept.

    Without IPUCLOUD_DATABASE_URL, that of the `ipucloud up` running from IPUCLOUD_DATA_DIR.
    """
    with exit_on_error():
        counts = asdict(asyncio.run(_sync(settings_at_hand("database_url", "site_url", with_site=True), wait)))
    if as_json:
        output.write_json(counts)
    else:
        output.write_facts(counts.items())


async def _sync(settings: Settings, wait: float | None) -> Synced:
    async with database_of(settings) as database, sites_of(settings) as sites:
        synced = await sync(database, sites, validated="intake" in settings.validation)
        if wait is not None:
            await _until_validated(database, wait)
    return synced


async def _until_validated(database: Database, seconds: float) -> None:
    remaining = 0
    try:
        async with asyncio.timeout(seconds):
            while remaining := await _not_validated(database):  # noqa: ASYNC110  # workers validate them
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        raise CommandError(
            f"After {seconds:g} seconds {remaining or 'some'} new machines are not validated: see that a worker runs,"
            " and `ipucloud admin machines validations`."
        ) from None


async def _not_validated(database: Database) -> int:
    async with database.read() as connection:
        return await NEW_MACHINES.one(connection)
