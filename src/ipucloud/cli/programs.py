"""What the commands of jobs and of services have in common."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from ipucloud.cli.output import harmless
from ipucloud.cli.session import Session
from ipucloud.cli.values import requester
from ipucloud.client.call import Call
from ipucloud.client.errors import ApiError, UnreachableError
from ipucloud.client.models import Job, JobLog, Service, ServiceLog
from ipucloud.client.retry import AGAIN

Log = TypeVar("Log", JobLog, ServiceLog)

POLL_SECONDS = 1.0
LOST_SECONDS = 3.0
"""Between two questions about a program that runs, and after one that was not answered."""


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
            text = piece.text
            # At a terminal nothing that controls it is shown; a file gets what the program wrote.
            sys.stdout.write("\n".join(map(harmless, text.split("\n"))) if sys.stdout.isatty() else text)
        sys.stdout.flush()
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
