"""Error messages of service commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

import psycopg
import sqlalchemy as sa
import typer
from pydantic import ValidationError

from ipucloud.catalogue.checks import CatalogueError
from ipucloud.cli.exits import Exit
from ipucloud.config import Settings
from ipucloud.config.constants import former_settings
from ipucloud.db.schema_check import UpgradeError
from ipucloud.http.certificate import CertificateError
from ipucloud.http.listeners import ListenError
from ipucloud.kernel.errors import UNAVAILABLE, Problem
from ipucloud.site.ports import SiteError


@contextmanager
def exit_on_error() -> Iterator[None]:
    """End the command with a message and a status for expected errors."""
    try:
        yield
    except (CertificateError, CommandError, ListenError, SiteError) as error:
        stop(str(error), Exit.FAILED)
    except CatalogueError as error:
        stop(str(error), Exit.USAGE)
    except Problem as error:
        stop(error.detail, Exit.UNREACHABLE if error.kind is UNAVAILABLE else Exit.FAILED)
    except UpgradeError as error:
        stop(f"This version cannot upgrade the database: {error}", Exit.FAILED)
    except (sa.exc.OperationalError, psycopg.OperationalError) as error:
        stop(f"The database does not answer: {first_line(error)}", Exit.UNREACHABLE)


def settings_from_environment(*needed: str) -> Settings:
    """The settings of IPUCLOUD_* variables; ends the command if one is invalid or a `needed` one is missing."""
    for former in former_settings():
        stop(former)
    try:
        settings = Settings()
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        stop(" ".join(_fault(each["loc"], each["msg"]) for each in faults))
    require(settings, needed)
    if settings.oidc_providers or settings.stripe_secret_key_file or settings.stripe_secret_key:
        _require_usable_proxies()
    return settings


def _require_usable_proxies() -> None:
    """End the command if the environment's proxies and authorities cannot be used for identity providers and Stripe."""
    from ipucloud.client.errors import UsageError
    from ipucloud.client.transport import check_environment

    try:
        check_environment()
    except UsageError as error:
        stop(str(error))


def require(settings: Settings, needed: Iterable[str]) -> None:
    """End the command if one of these settings is missing."""
    for name in needed:
        if getattr(settings, name) is None:
            stop(f"Set IPUCLOUD_{name.upper()} first.")


def _fault(where: tuple[int | str, ...], message: str) -> str:
    sentence = f"{message.removeprefix('Value error, ')}."
    return f"IPUCLOUD_{str(where[0]).upper()}: {sentence}" if where else sentence


def stop(sentence: str, status: Exit = Exit.USAGE) -> NoReturn:
    """End the command with a message on standard error."""
    with suppress(OSError):
        typer.echo(f"ipucloud: {sentence}", err=True)
    raise typer.Exit(status)


def first_line(error: Exception) -> str:
    """The message without the statement and parameters that SQLAlchemy appends."""
    origin = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    return str(origin).strip().splitlines()[0]


class CommandError(Exception):
    """The message is human-readable."""
