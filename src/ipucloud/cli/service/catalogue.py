"""`ipucloud catalogue`: the operator's own catalogue files."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ipucloud.billing.pricing.book import install_prices
from ipucloud.catalogue.checks import CatalogueError
from ipucloud.catalogue.load import SHIPPED, load
from ipucloud.catalogue.queries import Catalogue
from ipucloud.cli import output
from ipucloud.cli.examples import with_examples
from ipucloud.cli.exits import Exit
from ipucloud.cli.service.catalogue_use import notes
from ipucloud.cli.service.connections import database_of, settings_at_hand
from ipucloud.cli.service.failures import exit_on_error, settings_from_environment, stop
from ipucloud.cli.session import Json
from ipucloud.config import Settings

app = typer.Typer(no_args_is_help=True, help="Check, export and price a catalogue of your own.")

Directory = Annotated[
    Path | None, typer.Argument(help="Directory of data files (default: IPUCLOUD_CATALOGUE, else the shipped files).")
]


@app.callback()
def catalogue() -> None:
    pass


@app.command("check", cls=with_examples("", "/etc/ipucloud/catalogue --database"))
def check(
    directory: Directory = None,
    with_database: Annotated[
        bool, typer.Option("--database", help="Also compare with the database of IPUCLOUD_DATABASE_URL.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check whether a process would accept the catalogue; list all errors if not.

    With --database, also list clusters of flavors no longer sold, machines without a flavor, machine types without
    machines, and missing or different prices. None of these is an error.

    Exit status:
    0  the catalogue is valid
    1  the database query failed
    2  the catalogue, the command or a setting is invalid
    6  the database is unreachable
    """
    settings = settings_at_hand("database_url") if with_database else settings_from_environment()
    place = directory or settings.catalogue
    try:
        catalogue = load(place)
    except CatalogueError as refused:
        _show_faults(refused, as_json)
        raise typer.Exit(Exit.USAGE) from None
    with exit_on_error():
        noted = asyncio.run(_notes(settings, catalogue)) if with_database else []
    rows = {name: len(getattr(catalogue, name)) for name in ("regions", "machine_types", "flavors", "images", "prices")}
    if as_json:
        output.write_json({"valid": True, "digest": catalogue.digest, "rows": rows, "faults": [], "notes": noted})
        return
    counts = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in rows.items())
    output.write_facts([("catalogue", place or "the shipped one"), ("digest", catalogue.digest), ("rows", counts)])
    for note in noted:
        typer.echo(note)


@app.command("export", cls=with_examples("my-catalogue"))
def export(directory: Annotated[Path, typer.Argument(help="A new or empty directory.")]) -> None:
    """Write the shipped data files as the start of a catalogue of your own."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if next(directory.iterdir(), None) is not None:
            stop(f"{directory} is not empty. Name a new directory.")
        for file in SHIPPED.iterdir():
            (directory / file.name).write_bytes(file.read_bytes())
    except OSError as error:
        stop(f"{directory} cannot be written: {error.strerror}.", Exit.FAILED)
    typer.echo(f"Edit the files, then run: ipucloud catalogue check {directory}")


@app.command("install-prices", cls=with_examples())
def install(directory: Directory = None, as_json: Json = False) -> None:
    """Add the catalogue's prices to the price book where it has none for any of their period.

    Existing prices are kept; they are changed through the API. Safe to repeat.
    """
    settings = settings_at_hand("database_url")
    with exit_on_error():
        catalogue = load(directory or settings.catalogue)
        added = asyncio.run(_install(settings, catalogue))
    facts = {"added": added, "there_before": len(catalogue.prices) - added}
    if as_json:
        output.write_json(facts)
    else:
        output.write_facts((name.replace("_", " "), number) for name, number in facts.items())


def _show_faults(refused: CatalogueError, as_json: bool) -> None:
    if as_json:
        faults = [asdict(fault) for fault in refused.faults]
        output.write_json({"valid": False, "digest": None, "rows": {}, "faults": faults, "notes": []})
        return
    for fault in refused.faults:
        typer.echo(str(fault), err=True)
    number = len(refused.faults)
    typer.echo(f"The catalogue is not valid: {number} {'fault' if number == 1 else 'faults'}.", err=True)


async def _notes(settings: Settings, catalogue: Catalogue) -> list[str]:
    async with database_of(settings) as database:
        return await notes(database, catalogue, settings.currency)


async def _install(settings: Settings, catalogue: Catalogue) -> int:
    async with database_of(settings) as database, database.begin() as connection:
        return await install_prices(connection, catalogue)
