"""Error responses: RFC 9457 `application/problem+json`, never repeating the caller's input beyond its path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import orjson
from starlette.responses import Response
from starlette.types import Scope

from ipucloud.api.trace import scope_trace
from ipucloud.contract.patterns import IN_WORDS
from ipucloud.kernel.errors import INTERNAL_ERROR, MEDIA_TYPE, VALIDATION_FAILED, FieldError, Problem
from ipucloud.parts import PARTS

_MAX_ERRORS = 20
_LONGEST_SEGMENT = 64
_OWN_WORDS = {
    "extra_forbidden": "There is no such field or parameter.",
    "model_type": "The value must be a JSON object.",
}
_QUIET = frozenset({"value_error", "assertion_error", "json_invalid"})
"""Kinds whose message is ours or contains no input."""
_ECHOING = ("parsing", "unit_overflow", "from_date", "object_invalid", "is_instance", "is_subclass")
"""Parts of the names of pydantic's kinds whose message may contain input."""


def problem_response(problem: Problem, scope: Scope) -> Response:
    """The document of `problem` with the request's path and id, or in the form that errors of a part have."""
    for part in PARTS:
        if part.errors_below and scope["path"].startswith(part.errors_below) and part.installed:
            response: Response = part.load("errors:response")(problem)
            return response
    document = problem.document()
    document["instance"] = quote(scope["path"], safe="/:")
    document["request_id"] = scope_trace(scope).request_id
    return Response(orjson.dumps(document), problem.kind.status, dict(problem.headers), MEDIA_TYPE)


def internal_error() -> Problem:
    """500. The caller gets only the request id; the log has the details."""
    return Problem(INTERNAL_ERROR, "The service failed. Try again, or ask the operator with the request id.")


def invalid(errors: Sequence[FieldError]) -> Problem:
    """422 for these errors."""
    return Problem(VALIDATION_FAILED, "Some values are not valid.", errors)


def body_errors(errors: Iterable[Mapping[str, Any]], body: object) -> list[FieldError]:
    """pydantic's errors as JSON pointers into `body`, codes and messages, without values.

    A nullable field has errors of both its types; the one that asks for null is dropped.
    """
    faults = [FieldError(_pointer(error, body), error["type"], _sentence(error)) for error in errors]
    reported = [fault.pointer for fault in faults if fault.code != "none_required"]
    return [
        fault
        for fault in faults
        if fault.code != "none_required" or not any(other.startswith(fault.pointer) for other in reported)
    ][:_MAX_ERRORS]


def query_errors(errors: Iterable[Mapping[str, Any]]) -> list[FieldError]:
    """As `body_errors`, with `?name` for pointers."""
    return [
        FieldError(f"?{str(error['loc'][0])[:_LONGEST_SEGMENT]}", error["type"], _sentence(error))
        for error, _ in zip(errors, range(_MAX_ERRORS), strict=False)
    ]


def _pointer(error: Mapping[str, Any], body: object) -> str:
    """The JSON pointer (RFC 6901) to a value in `body`, or to a member that one of its objects lacks.

    pydantic's location also has names of types and validators that the value met, such as `dict[str,str]` or `[key]`:
    whatever is absent from the body is one of those. For a member with a very long name, the pointer is that of its
    object.
    """
    text, value = "", body
    for part in error["loc"]:
        if (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and isinstance(part, int) and part < len(value)
        ):
            inner = value[part]
        else:
            continue
        if len(str(part)) > _LONGEST_SEGMENT:
            return text
        text, value = f"{text}/{_segment(part)}", inner
    return f"{text}/{_segment(error['loc'][-1])}" if error["type"] == "missing" else text


def _segment(part: int | str) -> str:
    return str(part).replace("~", "~0").replace("/", "~1")


def _sentence(error: Mapping[str, Any]) -> str:
    kind: str = error["type"]
    if kind in _OWN_WORDS:
        return _OWN_WORDS[kind]
    if kind not in _QUIET and any(part in kind for part in _ECHOING):
        return "The value is not valid for this field."
    if kind == "string_pattern_mismatch":
        return IN_WORDS.get(error["ctx"]["pattern"], "The value does not have the form that this field needs.")
    message: str = error["msg"]
    return message.removeprefix("Value error, ").removeprefix("Assertion failed, ").rstrip(".") + "."
