"""`ipucloud catalogue`: what is sold where, in files of the operator's own."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ipucloud.billing.pricing.book import install_prices
from ipucloud.catalogue.faults import CatalogueError
from ipucloud.catalogue.load import SHIPPED, load
from ipucloud.catalogue.queries import Catalogue
from ipucloud.cli import output
from ipucloud.cli.exits import Exit
from ipucloud.cli.service.catalogue_use import notes
from ipucloud.cli.service.connections import database_of
from ipucloud.cli.service.telling import settings_from_environment, stop, told
from ipucloud.cli.session import Json
from ipucloud.config import Settings

app = typer.Typer(no_args_is_help=True, help="What is sold where: check, begin and price a catalogue of your own.")

Directory = Annotated[
    Path | None, typer.Argument(help="Directory of data files (else IPUCLOUD_CATALOGUE, else the shipped ones).")
]


@app.callback()
def catalogue() -> None:
    pass


@app.command("check")
def check(
    directory: Directory = None,
    with_database: Annotated[
        bool, typer.Option("--database", help="Tell what the database of IPUCLOUD_DATABASE_URL has otherwise.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say whether a process would take the catalogue, and every fault if not.

    With --database also: clusters of flavors that are no longer sold, machines that nobody sells or nobody has, prices
    that are missing or others. None of that is a fault.

    Exit status:
    0  it is valid
    1  the database could not be asked
    2  it is not valid, or the command or a setting is not
    6  the database is unreachable
    """
    settings = settings_from_environment(*(["database_url"] if with_database else []))
    place = directory or settings.catalogue
    try:
        found = load(place)
    except CatalogueError as refused:
        _show_faults(refused, as_json)
        raise typer.Exit(Exit.USAGE) from None
    with told():
        noted = asyncio.run(_notes(settings, found)) if with_database else []
    rows = {name: len(getattr(found, name)) for name in ("regions", "machine_types", "flavors", "images", "prices")}
    if as_json:
        output.write_json({"valid": True, "digest": found.digest, "rows": rows, "faults": [], "notes": noted})
        return
    counts = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in rows.items())
    output.write_facts([("catalogue", place or "the shipped one"), ("digest", found.digest), ("rows", counts)])
    for note in noted:
        typer.echo(note)


@app.command("export")
def export(directory: Annotated[Path, typer.Argument(help="A new directory, or an empty one.")]) -> None:
    """Write the shipped data files, to begin a catalogue of your own with."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if next(directory.iterdir(), None) is not None:
            stop(f"{directory} is not empty. Name a new directory.")
        for file in SHIPPED.iterdir():
            (directory / file.name).write_bytes(file.read_bytes())
    except OSError as error:
        stop(f"{directory} cannot be written: {error.strerror}.", Exit.FAILED)
    typer.echo(f"Change what you like, then: ipucloud catalogue check {directory}")


@app.command("install-prices")
def install(directory: Directory = None, as_json: Json = False) -> None:
    """Add the catalogue's prices to the price book, where that has none for any of their time.

    What the price book has stays: its prices change over the API. Safe to repeat.
    """
    settings = settings_from_environment("database_url")
    with told():
        found = load(directory or settings.catalogue)
        added = asyncio.run(_install(settings, found))
    facts = {"added": added, "there_before": len(found.prices) - added}
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


async def _notes(settings: Settings, found: Catalogue) -> list[str]:
    async with database_of(settings) as database:
        return await notes(database, found, settings.currency)


async def _install(settings: Settings, found: Catalogue) -> int:
    async with database_of(settings) as database, database.begin() as connection:
        return await install_prices(connection, found)
