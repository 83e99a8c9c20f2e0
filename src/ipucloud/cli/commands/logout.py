"""`ipucloud logout`."""

from __future__ import annotations

import typer

from ipucloud.cli.session import Session, customer_command
from ipucloud.client.errors import UsageError
from ipucloud.client.profiles import chosen, save, stored_profiles

app = typer.Typer()


@customer_command(app, "logout", "", "--profile admin")
def logout(session: Session) -> None:
    """Delete a stored profile with its token.

    The token stays valid for others who have it; `ipucloud tokens delete` ends it.
    """
    name = chosen(session.environment, session.profile)
    profiles = stored_profiles(session.environment)
    if profiles.pop(name, None) is None:
        raise UsageError(f"There is no profile {name}. `ipucloud profiles` lists them.")
    save(profiles, session.environment)
    session.done("deleted profile", name)
