"""Exit statuses, stable for scripts; documented in the help of `ipucloud`."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipucloud.client.errors import ClientError


class Exit(IntEnum):
    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    AUTH = 4
    CONFLICT = 5
    UNREACHABLE = 6
    INTERRUPTED = 130


_BY_STATUS = {
    400: Exit.USAGE,
    401: Exit.AUTH,
    403: Exit.AUTH,
    404: Exit.NOT_FOUND,
    409: Exit.CONFLICT,
    412: Exit.CONFLICT,
    413: Exit.USAGE,
    422: Exit.USAGE,
    429: Exit.UNREACHABLE,
    502: Exit.UNREACHABLE,
    503: Exit.UNREACHABLE,
    504: Exit.UNREACHABLE,
}


def exit_of_status(status: int) -> Exit:
    """The exit status for an answer with this HTTP status."""
    return Exit.OK if status < 300 else _BY_STATUS.get(status, Exit.FAILED)


def exit_of(error: ClientError) -> Exit:
    """The exit status for an error of the client."""
    from ipucloud.client.errors import (
        ApiError,
        NotStoredError,
        StateTimeoutError,
        UnreachableError,
        UsageError,
        WaitTimeoutError,
    )

    if isinstance(error, ApiError):
        return exit_of_status(error.status)
    if isinstance(error, UnreachableError | WaitTimeoutError | StateTimeoutError):
        return Exit.UNREACHABLE
    if isinstance(error, NotStoredError):
        return Exit.NOT_FOUND
    return Exit.USAGE if isinstance(error, UsageError) else Exit.FAILED
