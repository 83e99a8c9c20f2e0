"""`ipucloud reset-password`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import structlog
import typer

from ipucloud.cli import output
from ipucloud.cli.examples import with_examples
from ipucloud.cli.service.connections import database_of
from ipucloud.cli.service.failures import exit_on_error, settings_from_environment
from ipucloud.cli.session import Json
from ipucloud.config import Settings
from ipucloud.identity.passwords import Passwords, random_password
from ipucloud.identity.verification import Inviting, Reset, reset_password

app = typer.Typer()


@app.command("reset-password", cls=with_examples("ann@example.com", "ann@example.com --keep-memberships"))
def reset(
    email: Annotated[str, typer.Argument(help="E-mail of the person who forgot the password.")],
    keep: Annotated[
        bool | None,
        typer.Option(
            "--keep-memberships/--end-memberships",
            help="Whether the account stays a member where it is. Ended memberships become invitations.",
            show_default="keep, if the person has shown before that the e-mail is theirs",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Give a person a new password, which is shown once, and end their sessions, logins and personal tokens.

    The account also forgets its identities at OpenID Connect providers. Give the password to nobody but the person
    whose e-mail it is: the account counts as theirs from now on.

    For operators, at the database (IPUCLOUD_DATABASE_URL). The person changes it with `ipucloud password`.
    """
    password = random_password()
    with exit_on_error(), _logged_beside():
        done = asyncio.run(_reset(settings_from_environment("database_url"), email.strip().lower(), password, keep))
    if done is None:
        output.console(sys.stderr).print(f"ipucloud: nobody has an active account with the e-mail {email}.")
        raise typer.Exit(3)
    again = [each.place for each in done.again]
    if as_json:
        output.write_json({"email": email, "password": password, "member_of": done.kept, "invited_again_to": again})
        return
    facts = [("email", email), ("password", password), ("member of", ", ".join(done.kept) or "nothing")]
    if again:
        facts += [
            ("invited again to", ", ".join(again)),
            ("", "Owners renew these invitations, which makes the links."),
        ]
    output.write_facts([*facts, ("", "The password is not shown again.")])


@contextmanager
def _logged_beside() -> Iterator[None]:
    """What is logged meanwhile, such as projects that have no owner now, goes where the document does not."""
    before = structlog.get_config()
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    try:
        yield
    finally:
        structlog.configure(**before)


async def _reset(settings: Settings, email: str, password: str, keep: bool | None) -> Reset | None:
    password_hash = await Passwords().hash(password)
    inviting = Inviting(settings.invitation_seconds, mailed=False)
    async with database_of(settings) as database, database.begin() as connection:
        return await reset_password(connection, email, password_hash, inviting, keep=keep)
