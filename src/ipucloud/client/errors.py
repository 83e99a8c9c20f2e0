"""Errors of the client; every message is human-readable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipucloud.client.models import Operation


class ClientError(Exception):
    """Base of this package's errors. `str` of one is for people: what happened, each fault, an id for the operator."""

    detail: str
    request_id: str | None = None

    def __str__(self) -> str:
        return "\n".join([self.detail, *self._faults(), *self._reference()])

    def _faults(self) -> Iterable[str]:
        return ()

    def _reference(self) -> Iterable[str]:
        """What the operator needs to find the case."""
        return [f"  request id {self.request_id}"] if self.request_id else []


class UsageError(ClientError):
    """Invalid input to the client, such as a URL without a scheme."""

    def __init__(self, detail: str) -> None:
        self.detail = detail


class NotStoredError(UsageError):
    """No profile has this name."""


@dataclass(frozen=True)
class FieldError:
    """One error in a request: `pointer` is a JSON pointer into the body, or `?name` of a query parameter."""

    pointer: str
    code: str
    detail: str


@dataclass(eq=False)
class ApiError(ClientError):
    """The service refused a request, as an RFC 9457 problem document.

    `code` is stable: branch on it. `detail` is one sentence for people; `retryable`: the same request may succeed
    later. `document` has every member, including those unknown to this version.
    """

    status: int
    code: str
    detail: str
    request_id: str | None = None
    retryable: bool = False
    retry_after: float | None = None
    errors: Sequence[FieldError] = ()
    document: Mapping[str, object] = field(default_factory=dict)

    def _faults(self) -> Iterable[str]:
        return (f"  {each.pointer}: {each.detail}" for each in self.errors)


@dataclass(eq=False)
class UnreachableError(ClientError):
    """No response: the service is down or too slow. The request may or may not have taken effect."""

    detail: str
    timed_out: bool = False


@dataclass(eq=False)
class UnexpectedAnswerError(ClientError):
    """The response is not from this API: another service or a proxy answered."""

    status: int
    detail: str
    request_id: str | None = None


class WaitTimeoutError(ClientError):
    """The operation was not done within the time limit of `wait`; it continues. `operation` is its last version."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.detail = f"Operation {operation.id} is still {operation.state} and continues."


class StateTimeoutError(ClientError):
    """An object was not as `until` awaits it within the time limit; what it does continues. `last`: as it was read."""

    def __init__(self, last: object) -> None:
        self.last = last
        state = getattr(last, "state", None)
        name = getattr(last, "name", None) or "It"
        self.detail = f"{name} is still {state}, and is not waited for any longer."


class OperationFailedError(ClientError):
    """An operation failed or was cancelled; `operation.error` is the reason."""

    def __init__(self, operation: Operation) -> None:
        reason = operation.error.detail if operation.error else "No reason was given."
        self.operation = operation
        self.detail = f"{operation.kind} {operation.state}: {reason}"
        self.request_id = operation.request_id

    def _reference(self) -> Iterable[str]:
        return [f"  operation id {self.operation.id}"]


class EventGapError(ClientError):
    """The service cannot continue a stream after the last event: others are missing. Read everything again."""

    def __init__(self) -> None:
        self.detail = "Events are missing: the service does not know where the stream ended. Read everything again."
