"""`ipucloud reset-password`."""

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
from ipucloud.identity.passwords import Passwords, random_password
from ipucloud.identity.people import reset_password

app = typer.Typer()


@app.command("reset-password", cls=with_examples("ann@example.com"))
def reset(
    email: Annotated[str, typer.Argument(help="E-mail of the person who forgot the password.")],
    as_json: Json = False,
) -> None:
    """Give a person a new password, which is shown once, and end their sessions and logins.

    The account also forgets its identities at OpenID Connect providers.

    For operators, at the database (IPUCLOUD_DATABASE_URL). The person changes it with `ipucloud password`.
    """
    password = random_password()
    with exit_on_error():
        found = asyncio.run(_reset(settings_from_environment("database_url"), email.strip().lower(), password))
    if not found:
        output.console(sys.stderr).print(f"ipucloud: nobody has an active account with the e-mail {email}.")
        raise typer.Exit(3)
    if as_json:
        output.write_json({"email": email, "password": password})
    else:
        output.write_facts([("email", email), ("password", password), ("", "The password is not shown again.")])


async def _reset(settings: Settings, email: str, password: str) -> bool:
    password_hash = await Passwords().hash(password)
    async with database_of(settings) as database, database.begin() as connection:
        return await reset_password(connection, email, password_hash)
