"""Errors of the client; every message is human-readable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ipucloud.client.models import Operation


class ClientError(Exception):
    """Base of this package's errors."""


@dataclass(frozen=True)
class FieldError:
    """One error in a request: `pointer` is a JSON pointer into the body, or `?name` of a query parameter."""

    pointer: str
    code: str
    detail: str


@dataclass(eq=False)
class ApiError(ClientError):
    """The service refused a request, as an RFC 9457 problem document.

    `code` is stable: branch on it. `detail` is human-readable; `retryable`: the same request may succeed later.
    `document` has every member, including those unknown to this version.
    """

    status: int
    code: str
    detail: str
    request_id: str | None = None
    retryable: bool = False
    retry_after: float | None = None
    errors: Sequence[FieldError] = ()
    document: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.detail


@dataclass(eq=False)
class UnreachableError(ClientError):
    """No response: the service is down or too slow. The request may or may not have taken effect."""

    detail: str
    timed_out: bool = False

    def __str__(self) -> str:
        return self.detail


@dataclass(eq=False)
class UnexpectedAnswerError(ClientError):
    """The response is not from this API: another service or a proxy answered."""

    status: int
    detail: str
    request_id: str | None = None

    def __str__(self) -> str:
        return self.detail


@dataclass(eq=False)
class WaitTimeoutError(ClientError):
    """The operation was not done within the time limit of `wait`; it continues."""

    operation: Operation

    def __str__(self) -> str:
        return f"Operation {self.operation.id} is still {self.operation.state} and continues."


@dataclass(eq=False)
class OperationFailedError(ClientError):
    """An operation failed or was cancelled; `operation.error` is the reason."""

    operation: Operation

    def __str__(self) -> str:
        operation = self.operation
        reason = operation.error.detail if operation.error else "No reason was given."
        return f"{operation.kind} {operation.state}: {reason}"


class UsageError(ClientError):
    """Invalid input to the client, such as a URL without a scheme."""
