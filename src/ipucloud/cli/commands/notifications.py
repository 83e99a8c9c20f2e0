"""`ipucloud notifications`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ipucloud.cli.session import Session, customer_command
from ipucloud.client import me
from ipucloud.client.errors import UsageError
from ipucloud.client.models import Notifications

app = typer.Typer(no_args_is_help=True)


class Language(StrEnum):
    """Languages of e-mails."""

    ENGLISH = "en"
    GERMAN = "de"


@customer_command(app, "show")
def show(session: Session) -> None:
    """Show which events you get by e-mail."""
    _show(session, session.run(me.notifications()))


@customer_command(app, "set", "operation.failed 'budget.*'", "'cluster.*' --language de")
def choose(
    session: Session,
    types: Annotated[list[str], typer.Argument(help="Types of events, or all of a noun, such as `cluster.*`.")],
    language: Annotated[Language | None, typer.Option(help="Language of your e-mails.")] = None,
) -> None:
    """Get e-mails of these events of the project, instead of those before. Those of your other projects stay."""
    current = session.run(me.notifications())
    project = _project(session)
    others = {each.project: each.event_types for each in current.subscriptions if project not in _names(each)}
    spoken = str(language or current.language)
    _show(session, session.run(me.replace_notifications(spoken, {**others, project: types})))


@customer_command(app, "stop")
def stop(session: Session) -> None:
    """Get no more e-mails of the project."""
    current = session.run(me.notifications())
    project = _project(session)
    others = {each.project: each.event_types for each in current.subscriptions if project not in _names(each)}
    _show(session, session.run(me.replace_notifications(str(current.language), others)))


def _names(subscription: object) -> set[str]:
    return {str(getattr(subscription, "project", "")), str(getattr(subscription, "project_id", ""))}


def _project(session: Session) -> str:
    project = session.configured.project
    if project is None:
        raise UsageError("Name a project with --project.")
    return project


def _show(session: Session, notifications: Notifications) -> None:
    session.show(
        notifications,
        [
            ("email", notifications.email),
            ("language", notifications.language),
            *((each.project, ", ".join(each.event_types)) for each in notifications.subscriptions),
            *([] if notifications.available else [("", "This installation sends no e-mail.")]),
        ],
    )
