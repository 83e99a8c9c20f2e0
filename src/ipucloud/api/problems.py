"""Every refusal leaves as RFC 9457 `application/problem+json`, and none repeats what the caller sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import orjson
from starlette.responses import Response
from starlette.types import Scope

from ipucloud.api.trace import scope_trace
from ipucloud.kernel.errors import INTERNAL_ERROR, VALIDATION_FAILED, FieldError, Problem

MEDIA_TYPE = "application/problem+json"
_MOST_ERRORS = 20
_LONGEST_SEGMENT = 64
_OWN_WORDS = {
    "extra_forbidden": "There is no such field or parameter.",
    "model_type": "The value must be a JSON object.",
}
_QUIET = frozenset({"value_error", "assertion_error", "json_invalid"})
"""Kinds whose own sentence is ours, or says nothing of the input."""
_ECHOING = ("parsing", "unit_overflow", "from_date", "object_invalid", "is_instance", "is_subclass")
"""Parts of the names of pydantic's kinds whose sentence may hold a piece of the input."""


def problem_response(problem: Problem, scope: Scope) -> Response:
    """The document of `problem` with what only this request knows: its path and its id."""
    document = problem.document()
    document["instance"] = quote(scope["path"])
    document["request_id"] = scope_trace(scope).request_id
    return Response(orjson.dumps(document), problem.kind.status, dict(problem.headers), MEDIA_TYPE)


def internal_error() -> Problem:
    """500: the request id is all a caller learns; the log has the rest under it."""
    return Problem(INTERNAL_ERROR, "This is a fault of ours. Try again, and tell support the request id if it stays.")


def invalid(errors: Sequence[FieldError]) -> Problem:
    """422 for these faults."""
    return Problem(VALIDATION_FAILED, "Correct the fields named in `errors` and send the request again.", errors)


def field_errors(errors: Iterable[Mapping[str, Any]]) -> list[FieldError]:
    """pydantic's errors as pointers, codes and sentences, without the input."""
    return [
        FieldError(_pointer(error["loc"]), error["type"], _sentence(error))
        for error, _ in zip(errors, range(_MOST_ERRORS), strict=False)
    ]


def _pointer(location: Sequence[int | str]) -> str:
    place, *rest = location
    if place == "query":
        return f"?{_segment(rest[0])}" if rest else "?"
    return "".join(f"/{_segment(part)}" for part in rest)


def _segment(part: int | str) -> str:
    return str(part)[:_LONGEST_SEGMENT].replace("~", "~0").replace("/", "~1")


def _sentence(error: Mapping[str, Any]) -> str:
    kind: str = error["type"]
    if kind in _OWN_WORDS:
        return _OWN_WORDS[kind]
    if kind not in _QUIET and any(part in kind for part in _ECHOING):
        return "The value does not have the form this field takes."
    message: str = error["msg"]
    return message.removeprefix("Value error, ").removeprefix("Assertion failed, ").rstrip(".") + "."
