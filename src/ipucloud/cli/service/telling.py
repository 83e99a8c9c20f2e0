"""Errors of service commands, told in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

import alembic.util
import psycopg
import sqlalchemy as sa
import typer
from pydantic import ValidationError

from ipucloud.catalogue.faults import CatalogueError
from ipucloud.cli.exits import Exit
from ipucloud.cli.service.errors import CommandError
from ipucloud.config import Settings
from ipucloud.http.listeners import ListenError
from ipucloud.kernel.errors import UNAVAILABLE, Problem
from ipucloud.site.errors import SiteError


@contextmanager
def told() -> Iterator[None]:
    """End the command with a sentence and a status for what can be foreseen to go wrong."""
    try:
        yield
    except (CommandError, ListenError, SiteError) as error:
        stop(str(error), Exit.FAILED)
    except CatalogueError as error:
        stop(str(error), Exit.USAGE)
    except Problem as error:
        stop(error.detail, Exit.UNREACHABLE if error.kind is UNAVAILABLE else Exit.FAILED)
    except alembic.util.CommandError as error:
        stop(f"The database is not one that this version can bring up to date: {error}", Exit.FAILED)
    except (sa.exc.OperationalError, psycopg.OperationalError) as error:
        stop(f"The database does not answer: {first_line(error)}", Exit.UNREACHABLE)


def settings_from_environment(*needed: str) -> Settings:
    """The settings of IPUCLOUD_* variables; ends the command when one is not valid, or a `needed` one is not set."""
    try:
        settings = Settings()
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        stop(" ".join(f"IPUCLOUD_{str(each['loc'][0]).upper()}: {_fault(each['msg'])}." for each in faults))
    for name in needed:
        if getattr(settings, name) is None:
            stop(f"Set IPUCLOUD_{name.upper()} first.")
    return settings


def _fault(message: str) -> str:
    return message.removeprefix("Value error, ")


def stop(sentence: str, status: Exit = Exit.USAGE) -> NoReturn:
    """End the command with a sentence on standard error, if that takes it."""
    with suppress(OSError):
        typer.echo(f"ipucloud: {sentence}", err=True)
    raise typer.Exit(status)


def first_line(error: Exception) -> str:
    """Without the statement and its parameters that SQLAlchemy appends."""
    origin = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    return str(origin).strip().splitlines()[0]
