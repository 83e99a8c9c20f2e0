"""`ipucloud verify-accounts`."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

import typer

from ipucloud.cli import output
from ipucloud.cli.examples import with_examples
from ipucloud.cli.service.connections import database_of
from ipucloud.cli.service.failures import exit_on_error, settings_from_environment
from ipucloud.cli.session import Json
from ipucloud.config import Settings
from ipucloud.identity import verification
from ipucloud.identity.verification import Unverified

app = typer.Typer()


@app.command("verify-accounts", cls=with_examples("", "ann@example.com", "--all"))
def verify(
    emails: Annotated[
        list[str] | None, typer.Argument(metavar="[EMAIL]...", help="Of the accounts; without any, they are listed.")
    ] = None,
    everybody: Annotated[bool, typer.Option("--all", help="Every account that is listed.")] = False,
    as_json: Json = False,
) -> None:
    """List the accounts whose e-mail nobody has shown to be theirs, or say that those who use them read it.

    Such an account loses its password, sessions, tokens and memberships when a person shows for the first time that the
    e-mail is theirs. One that you verify loses nothing: do that only for people of whom you know that they use it.

    For operators, at the database (IPUCLOUD_DATABASE_URL).
    """
    addresses = None if everybody else [each.strip().lower() for each in emails or ()]
    with exit_on_error():
        accounts = asyncio.run(_run(settings_from_environment("database_url"), addresses))
    unknown = sorted(set(addresses or ()) - {each.email for each in accounts})
    if as_json:
        output.write_json(
            [{"email": each.email, "since": str(each.created_at), "places": each.places} for each in accounts]
        )
    else:
        output.write_table(
            ("EMAIL", "SINCE", "MEMBER OF"), [(each.email, each.created_at, each.places or "") for each in accounts]
        )
    if unknown:
        sentence = f"ipucloud: not among the active accounts that are not verified: {', '.join(unknown)}."
        output.console(sys.stderr).print(sentence)
        raise typer.Exit(3)


async def _run(settings: Settings, emails: list[str] | None) -> list[Unverified]:
    """`emails`: those to verify; None: all, none: only look."""
    async with database_of(settings) as database, database.begin() as connection:
        accounts = await verification.UNVERIFIED.all(connection, {"emails": emails or None})
        if emails is None or emails:
            await connection.execute(verification.VOUCH, {"ids": [each.id for each in accounts]})
        return accounts
