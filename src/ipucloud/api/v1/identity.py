"""What a token is."""

from __future__ import annotations

import orjson
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.reads import permission_of
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.projects import ProjectOut
from ipucloud.api.v1.tokens import TokenOut
from ipucloud.identity.access import known, unauthenticated
from ipucloud.identity.roles import Permission, allowed
from ipucloud.identity.token_store import WHOAMI

routes = router()


class WhoamiOut(BaseModel):
    """The token that asks. `scopes` are the permissions its role gives."""

    token: TokenOut
    role: str = Field(examples=["owner"])
    scopes: list[str] = Field(examples=[["cluster:read", "cluster:write"]])
    project: ProjectOut | None = Field(description="null for a token of the platform")


@routes.get("/v1/whoami", **operation("whoami", "Who am I?", Permission.PROJECT_READ, gives=WhoamiOut))
async def whoami(request: Request) -> Response:
    """The token, its project, its role and what the role may do."""
    trace = trace_of(request)
    row = await services_of(request).reader.one(WHOAMI, {"token_hash": trace.credential()})
    if row is None:
        raise unauthenticated()
    principal = known(row, permission_of(request))
    trace.admit(token_id=principal.token_id)
    body = {
        "token": orjson.Fragment(row["token"]),
        "role": principal.role,
        "scopes": sorted(permission for permission in Permission if allowed(principal.role, permission)),
        "project": None if row["project"] is None else orjson.Fragment(row["project"]),
    }
    return Response(orjson.dumps(body), media_type=JSON)
