"""`ipucloud bootstrap`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from ipucloud.catalogue.load import load
from ipucloud.cli import output
from ipucloud.cli.examples import with_examples
from ipucloud.cli.service.bootstrapping import MACHINES, PROJECT, TOKENS, bootstrap_keeping
from ipucloud.cli.service.bootstrapping import bootstrap as make
from ipucloud.cli.service.connections import database_of
from ipucloud.cli.service.failures import CommandError, exit_on_error, settings_from_environment
from ipucloud.cli.session import Json
from ipucloud.config import Settings

app = typer.Typer()


@app.command("bootstrap", cls=with_examples("", "--project research --machines 64", "--tokens ./tokens"))
def bootstrap(
    project: Annotated[str, typer.Option(help="Slug of the first project.")] = PROJECT,
    machines: Annotated[int, typer.Option(min=0, help="The project's quota per region and machine type.")] = MACHINES,
    tokens: Annotated[
        Path | None,
        typer.Option(help="Keep the tokens in files of this directory, and replace those that are lost or not valid."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Create the first project, an administrator's and an owner's token, quotas and prices.

    Safe to repeat: existing objects are kept. A token is shown only once, when it is created; with --tokens it is not
    shown, but in a file of the user who runs this.
    """
    with exit_on_error():
        facts = asyncio.run(_bootstrap(settings_from_environment("database_url"), project, machines, tokens))
    if as_json:
        output.write_json(facts)
    else:
        output.write_facts((name.replace("_", " "), value) for name, value in facts.items())


async def _bootstrap(settings: Settings, project: str, machines: int, tokens: Path | None) -> dict[str, str | None]:
    catalogue = load(settings.catalogue)
    async with database_of(settings) as database:
        if tokens is not None:
            try:
                await bootstrap_keeping(
                    database, catalogue, tokens, env=settings.environment, slug=project, machines=machines
                )
            except OSError as error:
                raise CommandError(f"The tokens cannot be kept: {error.filename}: {error.strerror}.") from error
            return {"project": project, **{f"{role}_token_file": str(tokens / name) for role, name in TOKENS.items()}}
        result = await make(database, catalogue, env=settings.environment, slug=project, machines=machines)
    return {
        "project": result.project,
        "project_id": str(result.project_id),
        "admin_token": result.admin_token,
        "owner_token": result.owner_token,
    }
