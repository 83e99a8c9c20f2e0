"""What a token is."""

from __future__ import annotations

import orjson
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.reads import read_platform
from ipucloud.api.routing import operation, router
from ipucloud.api.v1.projects import ProjectOut
from ipucloud.api.v1.tokens import TokenOut
from ipucloud.identity.roles import Permission, Role, allowed
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
    row = await read_platform(request, WHOAMI)
    role = Role(row["role"])
    body = {
        "token": orjson.Fragment(row["token"]),
        "role": role,
        "scopes": sorted(permission for permission in Permission if allowed(role, permission)),
        "project": None if row["project"] is None else orjson.Fragment(row["project"]),
    }
    return Response(orjson.dumps(body), media_type=JSON)
