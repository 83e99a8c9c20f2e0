"""`ipucloud logout`."""

from __future__ import annotations

from http import HTTPStatus

import typer

from ipucloud.cli.session import Session, customer_command
from ipucloud.client import me
from ipucloud.client.errors import ApiError, UsageError
from ipucloud.client.profiles import Profile, chosen, save, stored_profiles
from ipucloud.client.sync import Client

app = typer.Typer()


@customer_command(app, "logout", "", "--profile admin")
def logout(session: Session) -> None:
    """End the login of a profile, and delete the profile.

    A token that was entered at `ipucloud login` stays valid for others who have it; `ipucloud tokens delete` ends it.
    """
    name = chosen(session.environment, session.profile)
    profiles = stored_profiles(session.environment)
    profile = profiles.pop(name, None)
    if profile is None:
        raise UsageError(f"There is no profile {name}. `ipucloud profiles` lists them.")
    if profile.email is not None:
        _end(profile)
    save(profiles, session.environment)
    session.done("deleted profile", name)


def _end(profile: Profile) -> None:
    """End the person's token, unless it has ended already. Raises ClientError: the profile is then kept."""
    with Client(profile.url, profile.token) as client:
        try:
            client.run(me.log_out())
        except ApiError as error:
            if error.status != HTTPStatus.UNAUTHORIZED:
                raise
