"""Requests and responses as values; nothing here performs I/O.

A function such as `clusters.create(...)` builds a `Call[Operation]`; a client runs it. Its idempotency
key is created with it, so running the same call again cannot repeat its effect.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode
from uuid import UUID, uuid4

from ipucloud.client.errors import UsageError

Result = TypeVar("Result")
Reading = type[Result] | Callable[[bytes], Result]
"""Decodes a response body: a model or a function."""
QueryValue = str | UUID | int | float | datetime | tuple[str, ...] | None
"""A tuple repeats the parameter for each value."""
Query = Mapping[str, QueryValue]
Ref = str | UUID
"""An object's id; also its name, if it has one."""


@dataclass(frozen=True)
class Call(Generic[Result]):
    """One request. `path` is below `/v1`, or below the project when `scoped`; `hold`: seconds the server may wait."""

    method: str
    path: str
    answer: Reading[Result]
    query: Query = field(default_factory=dict)
    body: Mapping[str, object] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    scoped: bool = True
    project: str | None = None
    hold: float = 0.0

    def decode(self, content: bytes) -> Result:
        """Decode a response body. Raises pydantic's ValidationError."""
        read: Any = getattr(self.answer, "model_validate_json", self.answer)
        value: Result = read(content)
        return value

    def within(self, project: str) -> Call[Result]:
        """The same request in another project than the client's own."""
        return replace(self, project=project)

    def after(self, cursor: str) -> Call[Result]:
        """The same list from `cursor` on."""
        return replace(self, query={**self.query, "cursor": cursor})

    def with_key(self, key: str) -> Call[Result]:
        """The same request with the caller's idempotency key, which may outlive this process."""
        return replace(self, headers={**self.headers, "Idempotency-Key": key})

    def target(self, project: str | None) -> str:
        """Path and query as sent. `project` is the client's; the call's own takes precedence."""
        prefix = f"/v1/projects/{segment(self.project or project or '')}" if self.scoped else "/v1"
        query = [(name, text) for name, value in self.query.items() for text in _texts(value)]
        return f"{prefix}/{self.path}" + (f"?{urlencode(query)}" if query else "")

    def content(self) -> bytes | None:
        return None if self.body is None else json.dumps(self.body, separators=(",", ":"), default=_text).encode()


@dataclass(frozen=True)
class Tagged(Generic[Result]):
    """A value with its entity tag, for changes that require an unmodified object."""

    value: Result
    etag: str | None


def get(
    path: str, answer: Reading[Result], query: Query | None = None, *, scoped: bool = True, hold: float = 0.0
) -> Call[Result]:
    return Call("GET", path, answer, query=query or {}, scoped=scoped, hold=hold)


def post(
    path: str,
    answer: Reading[Result],
    body: Mapping[str, object] | None = None,
    *,
    scoped: bool = True,
    if_match: str | None = None,
) -> Call[Result]:
    return Call("POST", path, answer, body=body, headers=_new_key() | _condition(if_match), scoped=scoped)


def patch(
    path: str,
    answer: Reading[Result],
    body: Mapping[str, object],
    *,
    scoped: bool = True,
    if_match: str | None = None,
) -> Call[Result]:
    return Call("PATCH", path, answer, body=body, headers=_new_key() | _condition(if_match), scoped=scoped)


def delete(path: str, answer: Reading[Result], *, scoped: bool = True, if_match: str | None = None) -> Call[Result]:
    return Call("DELETE", path, answer, headers=_condition(if_match), scoped=scoped)


def nothing(content: bytes) -> None:
    """Decoder of a response without a body."""


def segment(name: Ref) -> str:
    """A name as one path segment; raises `UsageError` for one that would change which object is meant."""
    text = str(name)
    if text in {"", ".", ".."}:
        raise UsageError("The name or id is empty.")
    return quote(text, safe="")


def place(noun: str, account: Ref | None) -> str:
    """The path of a project's list, or of that of a billing account."""
    return noun if account is None else f"billing/accounts/{segment(account)}/{noun}"


def without_none(**fields: object) -> dict[str, object]:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def _condition(etag: str | None) -> dict[str, str]:
    return {} if etag is None else {"If-Match": etag}


def _new_key() -> dict[str, str]:
    return {"Idempotency-Key": str(uuid4())}


def _texts(value: QueryValue) -> tuple[str, ...]:
    if isinstance(value, tuple):
        return value
    return () if value is None else (_text(value),)


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, bool):
        return str(value).lower()
    return str(value.value if isinstance(value, Enum) else value)
