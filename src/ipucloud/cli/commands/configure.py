"""`ipucloud configure`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ipucloud.cli.profile import Profile, save, stored_profile
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import tokens
from ipucloud.client.errors import UsageError
from ipucloud.client.sync import Client

app = typer.Typer()


@customer_command(app, "configure", "", "--url https://ipucloud.example.com")
def configure(
    session: Session,
    check: Annotated[bool, typer.Option(help="Verify the token with the service.")] = True,
) -> None:
    """Store the service's URL and your token.

    The URL and project can be given by --url and --project. The token is prompted for, or read from a piped standard
    input, because other users of this machine could see it on a command line.
    """
    stored = stored_profile(session.environment)
    url = session.url or session.environment.get("IPUCLOUD_URL") or stored.url or _ask("URL of the service")
    token = session.environment.get("IPUCLOUD_TOKEN") or _ask("Token", hidden=True)
    profile = Profile(url, token, session.project or session.environment.get("IPUCLOUD_PROJECT") or stored.project)
    with Client(url, token, project=profile.project) as client:
        role = client.run(tokens.whoami()).role if check else None
    path = save(profile, session.environment)
    session.show(
        {"path": str(path), "url": url, "project": profile.project, "role": role},
        [("url", url), ("project", profile.project), ("role", role), ("stored in", path)],
    )


def _ask(what: str, *, hidden: bool = False) -> str:
    if sys.stdin.isatty():
        answer: str = typer.prompt(what, hide_input=hidden, err=True)
    else:
        answer = sys.stdin.readline()
    if not answer.strip():
        raise UsageError(f"{what}: no value was given.")
    return answer.strip()
