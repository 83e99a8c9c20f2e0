"""`ipucloud migrate`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli import output
from ipucloud.cli.examples import with_examples
from ipucloud.cli.service.connections import revealed
from ipucloud.cli.service.failures import exit_on_error, settings_from_environment
from ipucloud.cli.session import Json
from ipucloud.db.guards import put_in_force
from ipucloud.db.migrate import upgrade
from ipucloud.db.schema_check import head
from ipucloud.events.feed import transactions_behind, use_up_transactions

app = typer.Typer()


@app.command("migrate", cls=with_examples())
def migrate(revision: Annotated[str, typer.Option(help="Target revision.")] = "head", as_json: Json = False) -> None:
    """Upgrade the database schema. Uses IPUCLOUD_MIGRATION_DATABASE_URL, else IPUCLOUD_DATABASE_URL.

    Triggers, constraints and indexes that are not in force are put in force again, and privileges that the application
    must not have are taken away. In a database that was restored from another server, new events are then ordered after
    the restored ones.
    """
    settings = settings_from_environment("database_url")
    url = settings.migration_database_url or settings.database_url
    with exit_on_error():
        if adopted := upgrade(revealed(url), revision):
            typer.echo(adopted, err=True)
        for sentence in put_in_force(revealed(url)) if revision == "head" else ():
            typer.echo(sentence, err=True)
        if revision == "head" and (behind := transactions_behind(revealed(url))):
            typer.echo(f"Restored events: this server uses up {behind:,} transaction numbers.", err=True)
            use_up_transactions(revealed(url))
    reached = head() if revision == "head" else revision
    if as_json:
        output.write_json({"revision": reached})
    else:
        typer.echo(f"The schema is at {reached}.")
