"""`ipucloud login`."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

import typer

from ipucloud.cli.session import Session, customer_command
from ipucloud.client import projects, tokens
from ipucloud.client.errors import UsageError
from ipucloud.client.profiles import Profile, chosen, of_variables, save, stored_profiles
from ipucloud.client.sync import Client

app = typer.Typer()


@customer_command(app, "login", "", "--url https://ipucloud.example.com", "--profile admin --project demo")
def login(
    session: Session,
    check: Annotated[bool, typer.Option(help="Store them only if the service accepts the token.")] = True,
) -> None:
    """Check the service's URL and your token, and store them as a profile.

    Without --profile, the profile is `default`. --url and --project give the URL and the project. The token is asked
    for, or read from standard input if that is a pipe, because other users of this machine could see it on a command
    line; IPUCLOUD_TOKEN is used unless --profile is given.
    """
    name = chosen(session.environment, session.profile)
    profiles = stored_profiles(session.environment)
    stored = profiles.get(name, Profile())
    known = Profile() if session.profile else of_variables(session.environment)
    url = session.url or known.url or _ask("URL of the service", stored.url)
    token = known.token or _ask("Token", hidden=True)
    profile = Profile(url, token, session.project or known.project or (stored.project if url == stored.url else None))
    with Client(url, token, project=profile.project) as client:
        if check:
            profile = replace(profile, role=client.run(tokens.whoami()).role)
            if profile.project is not None:
                client.run(projects.get(profile.project))
    path = save({**profiles, name: profile}, session.environment)
    facts = {"profile": name, "url": url, "project": profile.project, "role": profile.role, "path": str(path)}
    session.show(facts, facts.items())


def _ask(what: str, default: str | None = None, *, hidden: bool = False) -> str:
    if sys.stdin.isatty():
        answer: str = typer.prompt(what, default, hide_input=hidden, err=True)
    else:
        answer = default or sys.stdin.readline()
    if not answer.strip():
        raise UsageError(f"{what}: no value was given.")
    return answer.strip()
