"""Errors in the form of RFC 7644, section 3.12."""

from __future__ import annotations

import orjson

from ipucloud.kernel.errors import MALFORMED_REQUEST, NAME_TAKEN, Problem

MEDIA_TYPE = "application/scim+json"
PREFIX = "/scim/"
"""Of the paths whose answers have this form."""
PATH = f"{PREFIX}v2"
_TYPE = "scimType"
_TYPES = {MALFORMED_REQUEST: "invalidSyntax", NAME_TAKEN: "uniqueness"}
_SCHEMAS = ["urn:ietf:params:scim:api:messages:2.0:Error"]


def document(problem: Problem) -> bytes:
    """A problem as a SCIM error."""
    scim_type = problem.extra.get(_TYPE, _TYPES.get(problem.kind))
    kind = {} if scim_type is None else {_TYPE: scim_type}
    return orjson.dumps({"schemas": _SCHEMAS, "status": str(problem.kind.status), **kind, "detail": problem.detail})


def refused(scim_type: str, detail: str) -> Problem:
    """400 with one of the types of RFC 7644, table 9."""
    return Problem(MALFORMED_REQUEST, detail, extra={_TYPE: scim_type})
