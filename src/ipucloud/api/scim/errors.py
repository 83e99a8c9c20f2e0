"""Errors in the form of RFC 7644, section 3.12."""

from __future__ import annotations

from pydantic import ValidationError
from scim2_models import Error, SCIMException

from ipucloud.kernel.errors import MALFORMED_REQUEST, NAME_TAKEN, Problem

MEDIA_TYPE = "application/scim+json"
PREFIX = "/scim/"
"""Of the paths whose answers have this form."""
_TYPE = "scimType"
_TYPES = {MALFORMED_REQUEST: "invalidSyntax", NAME_TAKEN: "uniqueness"}
_LONGEST = 300


def document(problem: Problem) -> str:
    """A problem as a SCIM error."""
    found = problem.extra.get(_TYPE, _TYPES.get(problem.kind))
    error = Error(status=problem.kind.status, scim_type=None if found is None else str(found), detail=problem.detail)
    return error.model_dump_json()


def refused(scim_type: str, detail: str) -> Problem:
    """400 with one of the types of RFC 7644, table 9."""
    return Problem(MALFORMED_REQUEST, detail, extra={_TYPE: scim_type})


def of_model(error: SCIMException | ValidationError) -> Problem:
    """400 for what a model does not accept."""
    cause = error.__cause__ if isinstance(error, SCIMException) else error
    if isinstance(cause, ValidationError):
        first, *_ = Error.from_validation_errors(cause)
    elif isinstance(error, SCIMException):
        first = error.to_error()
    sentence = " ".join((first.detail or "").split())[:_LONGEST].rstrip(".")
    return refused(first.scim_type or "invalidValue", f"{sentence}.")
