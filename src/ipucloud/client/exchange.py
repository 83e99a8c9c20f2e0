"""The client without I/O: requests, decoding, retries, waiting.

A flow is a generator. It yields actions (send a request, pause), is sent their outcome, and returns the result.
`Client` and `AsyncClient` differ only in how they perform these two actions.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar
from urllib.parse import unquote, urlsplit
from uuid import UUID

from pydantic import ValidationError

import ipucloud
import ipucloud.client as sdk
from ipucloud.client import profiles
from ipucloud.client.call import Call, Ref, Tagged, segment
from ipucloud.client.errors import (
    ApiError,
    FieldError,
    OperationFailedError,
    StateTimeoutError,
    UnexpectedAnswerError,
    UnreachableError,
    UsageError,
    WaitTimeoutError,
)
from ipucloud.client.retry import AGAIN, NO_RETRY, Retry, retry_after_seconds

if TYPE_CHECKING:
    from ipucloud.client.models import Operation

Result = TypeVar("Result")


@dataclass(frozen=True)
class Request:
    """A request to send. Without a response within `timeout` seconds it is `Lost`."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None
    timeout: float


@dataclass(frozen=True)
class Pause:
    """A pause, in seconds."""

    seconds: float


@dataclass(frozen=True)
class Received:
    """A response. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True)
class Lost:
    """No response; the request may have arrived."""

    reason: str
    timed_out: bool


Effect: TypeAlias = Request | Pause
Outcome: TypeAlias = Received | Lost | None
Flow: TypeAlias = Generator[Effect, Outcome, Result]
Progress: TypeAlias = Callable[["Operation"], None]

PATIENT = Retry(attempts=100, longest=300.0)
"""Retries while waiting for an operation, which must survive a restart of the service."""

SCOPE = "{project}"
"""In the path of a request: the project of the client."""
_TOKEN = re.compile(r"[\x21-\x7e]+")
_METHOD = re.compile(r"[A-Z]+")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\x20-\x7e]*")
_FIXED = frozenset({"authorization", "host"})
"""Headers that decide who gets the token."""
_SHORTEST_HOLD = 0.5


def configured(url: str | None, token: str | None, project: str | None) -> tuple[str, str, str | None]:
    """What is None, from `IPUCLOUD_URL`, `IPUCLOUD_TOKEN` and `IPUCLOUD_PROJECT`; then, if neither URL nor token was
    given, from the profile of the command line, whose token is for its URL only. Raises UsageError.
    """
    here = profiles.load(os.environ) if url is None and token is None else profiles.of_variables(os.environ)
    url, token = url or here.url, token or here.token
    if url is None or token is None:
        raise UsageError(
            "Give the URL and the token of the service, set IPUCLOUD_URL and IPUCLOUD_TOKEN, or run `ipucloud login`."
        )
    return url, token, project or here.project


@dataclass
class Exchange:
    """Base URL and credentials. `project` None: the token's project, read when first needed."""

    url: str
    token: str = field(repr=False)
    project: str | None = None
    retry: Retry = field(default_factory=Retry)
    timeout: float = 30.0
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise UsageError("The URL of the service must look like https://host or http://host:port.")
        if parts.query or parts.fragment or parts.username:
            raise UsageError("The URL of the service must have no user, query or fragment.")
        self.url = self.url.rstrip("/").removesuffix("/v1")
        if not _TOKEN.fullmatch(self.token):
            raise UsageError("The token is empty or contains invalid characters.")

    def run(self, call: Call[Result], retry: Retry | None = None) -> Flow[Result]:
        """Send `call`, with retries, and return its decoded response.

        Raises: ApiError, UnreachableError, UnexpectedAnswerError.
        """
        tagged = yield from self.tagged(call, retry)
        return tagged.value

    def tagged(self, call: Call[Result], retry: Retry | None = None) -> Flow[Tagged[Result]]:
        """As `run`, with the response's entity tag."""
        request = yield from self.request(call)
        received = yield from self._send(request, retry or self.retry)
        try:
            return Tagged(call.decode(received.content), received.headers.get("etag"))
        except ValidationError as error:
            raise UnexpectedAnswerError(
                received.status,
                f"This version of the client does not understand the response of {self.url} "
                f"({error.error_count()} faults). Is it the right URL, and is the client up to date?",
                received.headers.get("request-id"),
            ) from error

    def request(self, call: Call[Result]) -> Flow[Request]:
        """The request of a call, in its project."""
        if call.scoped and call.project is None and self.project is None:
            self.project = yield from self._own_project()
        return self._request(call)

    def send(
        self, method: str, path: str, headers: Mapping[str, str], content: bytes | None, *, hold: float, repeat: bool
    ) -> Flow[Received]:
        """See `Client.send`."""
        if not _METHOD.fullmatch(method):
            raise UsageError(f"{method} is no method, such as GET.")
        if not path.startswith("/") or not _TOKEN.fullmatch(path) or "#" in path:
            raise UsageError(f"{path} is no path of the service: it begins with / and is encoded, such as /v1/whoami.")
        if {".", ".."} & {*unquote(path.partition("?")[0]).split("/")}:  # they could lead out of the service's own URL
            raise UsageError(f"{path} has a part . or .. in it.")
        for name, value in headers.items():
            if not _HEADER.fullmatch(name) or not _VALUE.fullmatch(value) or name.lower() in _FIXED:
                raise UsageError(f"The header {name} cannot be sent.")
        if SCOPE in path:
            self.project = self.project or (yield from self._own_project())
            path = path.replace(SCOPE, segment(self.project))
        request = Request(method, self.url + path, self._headers(content, headers), content, self.timeout + hold)
        return (yield from self._answered(request, self.retry if repeat else NO_RETRY))

    def wait(
        self,
        operation: Operation | Ref,
        on_progress: Progress | None,
        patience: float | None,
        hold: int,
        project: str | None,
    ) -> Flow[Operation]:
        """Follow an operation until it is done; see `Client.wait`."""
        started = self.clock()
        call = sdk.operations.get(operation if isinstance(operation, str | UUID) else operation.id, wait=hold)
        call = call.within(project) if project else call
        while True:
            requested_at = self.clock()
            now = yield from self.run(call, PATIENT)
            if on_progress is not None:
                on_progress(now)
            if now.succeeded:
                return now
            if now.done:
                raise OperationFailedError(now)
            if patience is not None and self.clock() - started >= patience:
                raise WaitTimeoutError(now)
            if self.clock() - requested_at < _SHORTEST_HOLD:
                yield Pause(_SHORTEST_HOLD)

    def until(
        self,
        call: Call[Result],
        done: Callable[[Result], bool],
        on_progress: Callable[[Result], None] | None,
        patience: float | None,
        pause: float,
    ) -> Flow[Result]:
        """Read again and again; see `Client.until`."""
        started = self.clock()
        while True:
            now = yield from self.run(call, PATIENT)
            if on_progress is not None:
                on_progress(now)
            if done(now):
                return now
            left = pause if patience is None else patience - (self.clock() - started)
            if left <= 0:
                raise StateTimeoutError(now)
            yield Pause(min(pause, left))

    def _own_project(self) -> Flow[str]:
        principal = yield from self.run(sdk.tokens.whoami())
        if principal.project is None:
            raise UsageError("This token belongs to no project: specify a project.")
        return principal.project.slug

    def _request(self, call: Call[Result]) -> Request:
        content = call.content()
        url, headers = self.url + call.target(self.project), self._headers(content, call.headers)
        return Request(call.method, url, headers, content, self.timeout + call.hold)

    def _headers(self, content: bytes | None, more: Mapping[str, str]) -> dict[str, str]:
        """The headers of a request, with `more` in the place of those of the same name."""
        return {
            "authorization": f"Bearer {self.token}",
            "accept": "application/json, application/problem+json",
            "user-agent": f"ipucloud/{ipucloud.__version__}",
            **({"content-type": "application/json"} if content is not None else {}),
            **{name.lower(): value for name, value in more.items()},
        }

    def _send(self, request: Request, retry: Retry) -> Flow[Received]:
        received = yield from self._answered(request, retry)
        if received.status >= 300:
            raise problem(received)
        return received

    def _answered(self, request: Request, retry: Retry) -> Flow[Received]:
        """The response, whatever its status, once nothing more is gained by sending the request again."""
        started = self.clock()
        failures = 0
        while True:
            outcome = yield request
            if isinstance(outcome, Received) and outcome.status < 300:
                return outcome
            failures += 1
            try:
                pause = self.pause(request, outcome, failures, started, retry)
            except (ApiError, UnexpectedAnswerError):
                if isinstance(outcome, Received):
                    return outcome
                raise
            yield Pause(pause)

    def pause(self, request: Request, outcome: Outcome, failures: int, started: float, retry: Retry) -> float:
        """Seconds until the request is sent again after so many failures since a time. Raises the error to give up."""
        error = self._failure(request, outcome)
        pause = retry.pause(failures, self.clock() - started, _retry_after(outcome)) if _again(error) else None
        if pause is None:
            raise error
        return pause

    def _failure(self, request: Request, outcome: Outcome) -> ApiError | UnreachableError | UnexpectedAnswerError:
        if isinstance(outcome, Received):
            return problem(outcome)
        if isinstance(outcome, Lost) and outcome.timed_out:
            return UnreachableError(
                f"{self.url} did not respond within {request.timeout:g} seconds. "
                + ("Try again." if request.method == "GET" else "The request may have taken effect."),
                timed_out=True,
            )
        reason = outcome.reason if isinstance(outcome, Lost) else "no response"
        return UnreachableError(f"{self.url} cannot be reached ({reason}). Is the URL right and the service running?")


def problem(received: Received) -> ApiError | UnexpectedAnswerError:
    """The error for a status of 300 and above."""
    request_id = received.headers.get("request-id")
    try:
        document = json.loads(received.content)
    except ValueError:
        document = None
    if not isinstance(document, dict) or not isinstance(document.get("code"), str):
        return UnexpectedAnswerError(received.status, _unexpected(received), request_id)
    return ApiError(
        status=received.status,
        code=document["code"],
        detail=str(document.get("detail") or document.get("title") or document["code"]),
        request_id=str(document.get("request_id") or request_id or "") or None,
        retryable=document.get("retryable") is True,
        retry_after=_retry_after(received),
        errors=[_field_error(each) for each in _objects(document.get("errors"))],
        document=document,
    )


def _unexpected(received: Received) -> str:
    """What is said of a response without a problem document."""
    try:
        leads = urlsplit(received.headers.get("location", ""))
    except ValueError:  # such as http://[
        leads = urlsplit("")
    if 300 <= received.status < 400 and leads.scheme and leads.netloc:
        return (
            f"The response is a redirect to {leads.scheme}://{leads.netloc}. It is not followed, as others could get"
            " the token. If that is the service, give this URL: `ipucloud login --url` or IPUCLOUD_URL."
        )
    return f"The response has status {received.status} and no problem document; it is not from this service."


def _again(error: ApiError | UnreachableError | UnexpectedAnswerError) -> bool:
    if isinstance(error, ApiError):
        return error.status in AGAIN or error.code == "idempotency_in_progress"
    return isinstance(error, UnreachableError) or error.status in AGAIN


def _retry_after(outcome: Outcome) -> float | None:
    return retry_after_seconds(outcome.headers.get("retry-after")) if isinstance(outcome, Received) else None


def _objects(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _field_error(item: Mapping[str, object]) -> FieldError:
    return FieldError(str(item.get("pointer", "")), str(item.get("code", "")), str(item.get("detail", "")))
