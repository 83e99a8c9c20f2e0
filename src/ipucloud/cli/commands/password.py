"""`ipucloud password`."""

from __future__ import annotations

import typer

from ipucloud.cli.commands.login import ask
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import me

app = typer.Typer()


@customer_command(app, "password")
def password(session: Session) -> None:
    """Change your password. Your other sessions and logins end immediately.

    Both are asked for without echo, or read from two lines of standard input if that is a pipe.
    """
    current = ask("Present password", hidden=True)
    new = ask("New password", hidden=True, confirmed=True)
    session.run(me.change_password(current, new))
    session.done("changed", "password")
