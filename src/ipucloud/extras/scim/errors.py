"""Errors in the form of RFC 7644, section 3.12."""

from __future__ import annotations

import orjson
from starlette.responses import Response

from ipucloud.kernel.errors import MALFORMED_REQUEST, NAME_TAKEN, Problem

MEDIA_TYPE = "application/scim+json"
PATH = "/scim/v2"
_TYPE = "scimType"
_TYPES = {MALFORMED_REQUEST: "invalidSyntax", NAME_TAKEN: "uniqueness"}
_SCHEMAS = ["urn:ietf:params:scim:api:messages:2.0:Error"]


def response(problem: Problem) -> Response:
    """A problem as a SCIM error."""
    scim_type = problem.extra.get(_TYPE, _TYPES.get(problem.kind))
    kind = {} if scim_type is None else {_TYPE: scim_type}
    status = problem.kind.status
    error = orjson.dumps({"schemas": _SCHEMAS, "status": str(status), **kind, "detail": problem.detail})
    return Response(error, status, dict(problem.headers), MEDIA_TYPE)


def refused(scim_type: str, detail: str) -> Problem:
    """400 with one of the types of RFC 7644, table 9."""
    return Problem(MALFORMED_REQUEST, detail, extra={_TYPE: scim_type})
