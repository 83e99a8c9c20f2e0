"""What the commands of jobs and of services have in common."""

from __future__ import annotations

import re
import shlex
import sys
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import TypeVar

from ipucloud.cli.output import write_foreign
from ipucloud.cli.session import Session
from ipucloud.cli.values import requester
from ipucloud.client import services
from ipucloud.client.call import Call
from ipucloud.client.errors import ApiError, UnreachableError, UsageError
from ipucloud.client.models import Cluster, Job, JobLog, Service, ServiceLog, ServiceState
from ipucloud.client.retry import AGAIN

Log = TypeVar("Log", JobLog, ServiceLog)

POLL_SECONDS = 1.0
LOST_SECONDS = 3.0
"""Between two questions about a program that runs, and after one that was not answered."""
ENDED = {ServiceState.FAILED, ServiceState.STOPPED}
_LABEL = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
_LAST_LINES = 10


def write_parts(
    session: Session,
    log: Callable[[int], Call[Log]],
    noun: str,
    *,
    follow: bool,
    silent: bool = False,
) -> None:
    """Print what a program wrote; with `follow` until it has ended, however often the service does not answer.

    `noun`: what is said to continue meanwhile. `silent`: only wait.
    """
    after = 0
    while True:
        part = _patient(session, log, noun, after) if follow else session.run(log(after))
        for piece in () if silent else part.items:
            write_foreign(piece.text, sys.stdout)
        after = part.next
        if part.complete or not (follow or part.items):
            return
        if not part.items:
            time.sleep(POLL_SECONDS)


def _patient(
    session: Session,
    log: Callable[[int], Call[Log]],
    noun: str,
    after: int,
) -> Log:
    """The next part of a log, once the service answers."""
    noted = False
    while True:
        try:
            part = session.run(log(after))
        except (UnreachableError, ApiError) as error:
            if isinstance(error, ApiError) and error.status not in AGAIN:
                raise
            if not noted:
                session.note(f"The service does not answer. The {noun} continues; trying again.")
                noted = True
            time.sleep(LOST_SECONDS)
        else:
            return part


def reason(program: Job | Service) -> str | None:
    """Why it is in its state, with what a shell means by its exit status."""
    meant = {126: "cannot be run, or cannot run", 127: "was not found on the server, or did not find"}
    if program.exit_status not in meant:
        return program.state_reason
    return f"{program.state_reason}: {program.command[0]} {meant[program.exit_status]} a program that it starts"


def started_as(program: Job | Service) -> list[tuple[str, object]]:
    """Which program it is, who requested it, and on which server it runs."""
    return [
        ("id", program.id),
        ("command", shlex.join(program.command)),
        ("requested by", requester(program.requested_by)),
        ("directory", program.directory),
        ("variables", ", ".join(program.environment) or None),
        ("image", program.image),
        ("registry user", program.registry_username),
        ("server", program.poplar_server),
    ]


def require_label(name: str) -> None:
    """Raises UsageError for what cannot be the name of a service."""
    if not _LABEL.fullmatch(name):
        raise UsageError(f"--name {name} is no DNS label that begins with a letter, such as app.")


def service_in_use(session: Session, cluster: Cluster, name: str) -> Service | None:
    """The service of this name that has not ended; one that is to stop is waited for."""
    while True:
        try:
            service = session.run(services.get(cluster.id, name))
        except ApiError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise
        if service.state in ENDED:
            return None
        if service.stop_requested_at is None:
            return service
        time.sleep(POLL_SECONDS)


def last_lines(session: Session, cluster: Cluster, service: Service) -> list[str]:
    """The last of what a service's program wrote."""
    text, after = "", 0
    while (part := session.run(services.log(cluster.id, str(service.id), after=after))).items:
        text, after = text + "".join(each.text for each in part.items), part.next
    return text.splitlines()[-_LAST_LINES:]
