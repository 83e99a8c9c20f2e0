"""`ipucloud migrate`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.service.telling import settings_from_environment
from ipucloud.db.migrate import head, upgrade

app = typer.Typer()


@app.command("migrate")
def migrate(revision: Annotated[str, typer.Option(help="Revision to go up to.")] = "head") -> None:
    """Bring the database's schema up to date. Uses IPUCLOUD_MIGRATION_DATABASE_URL, else IPUCLOUD_DATABASE_URL."""
    settings = settings_from_environment("database_url")
    url = settings.migration_database_url or settings.database_url
    if url is not None:
        upgrade(url.get_secret_value(), revision)
        typer.echo(f"The schema is at {head() if revision == 'head' else revision}.")
