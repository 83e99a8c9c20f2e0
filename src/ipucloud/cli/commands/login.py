"""`ipucloud login`, `logout`, `password` and `profiles`."""

from __future__ import annotations

import socket
import sys
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated

import typer

from ipucloud.cli import browsers
from ipucloud.cli.lazy import Listing
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import me, projects, tokens
from ipucloud.client.errors import ApiError, NotStoredError, UsageError
from ipucloud.client.profiles import Profile, chosen, of_variables, save, stored_profiles
from ipucloud.client.sync import Client

app = typer.Typer()


@customer_command(
    app,
    "login",
    "--url https://ipucloud.example.com",
    "--email ann@example.com",
    "--device --project research",
    "--profile admin --project demo",
)
def login(
    session: Session,
    email: Annotated[
        str | None, typer.Option(help="Your e-mail. The password is asked for, or read from standard input.")
    ] = None,
    device: Annotated[
        bool | None,
        typer.Option(
            "--device/--no-device",
            help="Approve the login in a browser, however you sign in there. [default: on a terminal, without --email]",
        ),
    ] = None,
    check: Annotated[bool, typer.Option(help="Store a token only if the service accepts it.")] = True,
) -> None:
    """Log in, and store the service's URL and a token as a profile.

    You get a token of your own, which expires; `ipucloud logout` ends it. You approve that in a browser where you are
    signed in to the control panel, or give your password with --email. With --no-device, or from a pipe, a token is
    entered instead. Without --profile, the profile is `default`. --url and --project give the URL
    and the project. Password and token are asked for, or read from standard input if that is a pipe, because other
    users of this machine could see them on a command line; IPUCLOUD_TOKEN is used unless --profile or --email is given.
    """
    name = chosen(session.environment, session.profile)
    profiles = stored_profiles(session.environment)
    stored = profiles.get(name, Profile())
    known = Profile() if session.profile else of_variables(session.environment)
    url = session.url or known.url or ask("URL of the service", stored.url)
    if device and email is not None:
        raise UsageError("Give either --device or --email.")
    if device is None:
        device = email is None and known.token is None and sys.stdin.isatty()
    project = session.project or known.project or (stored.project if url == stored.url else None)
    if device:
        profile = _approved(url, project)
    elif email is not None:
        profile = _as_person(url, email, project)
    else:
        profile = _with_token(Profile(url, known.token or ask("Token", hidden=True).strip(), project), check=check)
    path = save({**profiles, name: profile}, session.environment)
    facts = {"profile": name, "url": url, "project": profile.project, "role": profile.role, "path": str(path)}
    if profile.email is not None:
        facts["email"] = profile.email
    session.show(facts, facts.items())


def _as_person(url: str, email: str, project: str | None) -> Profile:
    with Client(url, me.NOBODY, project=project) as client:
        credentials = client.run(me.log_in(email, ask("Password", hidden=True), project=project, name=_computer()))
    return Profile(url, credentials.token, credentials.project, credentials.role, credentials.owner)


def _approved(url: str, project: str | None) -> Profile:
    with Client(url, me.NOBODY, project=project) as client:
        credentials = browsers.log_in(client, _computer(), project)
    return Profile(url, credentials.token, credentials.project, credentials.role, credentials.owner)


def _with_token(profile: Profile, *, check: bool) -> Profile:
    with Client(profile.url, profile.token, project=profile.project) as client:
        if check:
            profile = replace(profile, role=client.run(tokens.whoami()).role)
            if profile.project is not None:
                client.run(projects.get(profile.project))
    return profile


def _computer() -> str:
    """The token's name, by which its owner knows where it is."""
    return socket.gethostname()[:128] or "command line"


def ask(what: str, default: str | None = None, *, hidden: bool = False, confirmed: bool = False) -> str:
    """Ask on a terminal, without echo if `hidden`; else read a line of standard input. Raises UsageError.

    What is hidden is returned with the spaces at its ends: they may belong to a password.
    """
    if sys.stdin.isatty():
        answer: str = typer.prompt(what, default, hide_input=hidden, confirmation_prompt=confirmed, err=True)
    else:
        answer = default or sys.stdin.readline()
    if not answer.strip():
        raise UsageError(f"{what}: no value was given.")
    return answer.removesuffix("\n").removesuffix("\r") if hidden else answer.strip()


logout_app = typer.Typer()


@customer_command(logout_app, "logout", "", "--profile admin")
def logout(session: Session) -> None:
    """End the login of a profile, and delete the profile.

    A token that was entered at `ipucloud login` stays valid for others who have it; `ipucloud tokens delete` ends it.
    """
    name = chosen(session.environment, session.profile)
    profiles = stored_profiles(session.environment)
    profile = profiles.pop(name, None)
    if profile is None:
        raise NotStoredError(f"There is no profile {name}. `ipucloud profiles list` lists them.")
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


password_app = typer.Typer()


@customer_command(password_app, "password")
def password(session: Session) -> None:
    """Change your password. Your other sessions and logins end immediately.

    Both are asked for without echo, or read from two lines of standard input if that is a pipe.
    """
    current = ask("Present password", hidden=True)
    new = ask("New password", hidden=True, confirmed=True)
    session.run(me.change_password(current, new))
    session.done("changed", "password")


profiles_app = typer.Typer(cls=Listing)


@profiles_app.callback()
def _group() -> None:
    pass


@customer_command(profiles_app, "list", lists=True)
def list_profiles(session: Session) -> None:
    """List the stored profiles, without their tokens."""
    used = chosen(session.environment, session.profile)
    rows = [
        {"name": name, "url": each.url, "project": each.project, "role": each.role, "used": name == used}
        for name, each in stored_profiles(session.environment).items()
    ]
    session.show_items(rows, ("NAME", "URL", "PROJECT", "ROLE", "USED"), lambda each: [*each.values()])
