"""`ipucloud profiles`."""

from __future__ import annotations

import typer

from ipucloud.cli.session import Session, customer_command
from ipucloud.client.profiles import chosen, stored_profiles

app = typer.Typer()


@customer_command(app, "profiles")
def profiles(session: Session) -> None:
    """List the stored profiles, without their tokens."""
    used = chosen(session.environment, session.profile)
    found = [
        {"name": name, "url": each.url, "project": each.project, "role": each.role, "used": name == used}
        for name, each in stored_profiles(session.environment).items()
    ]
    session.show_items(found, ("NAME", "URL", "PROJECT", "ROLE", "USED"), lambda each: [*each.values()])
