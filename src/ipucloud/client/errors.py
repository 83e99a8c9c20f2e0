"""What can go wrong between a customer and the service; every message is a sentence for a human."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ipucloud.client.models import Operation


class ClientError(Exception):
    """Base of every error this package raises."""


@dataclass(frozen=True)
class FieldError:
    """One fault of a request: `pointer` is a JSON pointer into the body, or `?name` of a query parameter."""

    pointer: str
    code: str
    detail: str


@dataclass(eq=False)
class ApiError(ClientError):
    """The service refused a request, as an RFC 9457 problem document.

    `code` is stable for ever and the thing to branch on; `detail` is the sentence for a human; `retryable` says that
    the same request may succeed later. `document` holds every member, also those this version does not know.
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
    """No answer came: the service is away, or too slow. Whether the request took effect is not known."""

    detail: str
    timed_out: bool = False

    def __str__(self) -> str:
        return self.detail


@dataclass(eq=False)
class UnexpectedAnswerError(ClientError):
    """An answer that is not this API's: another service listens at the URL, or something in between replied."""

    status: int
    detail: str
    request_id: str | None = None

    def __str__(self) -> str:
        return self.detail


@dataclass(eq=False)
class WaitTimeoutError(ClientError):
    """The operation was not done in the time given to `wait`; it goes on."""

    operation: Operation

    def __str__(self) -> str:
        return f"Operation {self.operation.id} is still {self.operation.state}; it goes on without being waited for."


@dataclass(eq=False)
class OperationFailedError(ClientError):
    """An operation ended without success; `operation.error` says why."""

    operation: Operation

    def __str__(self) -> str:
        operation = self.operation
        reason = operation.error.detail if operation.error else "No reason was given."
        return f"{operation.kind} {operation.state}: {reason}"


class UsageError(ClientError):
    """The client was given something it cannot send, such as a URL without a scheme."""
