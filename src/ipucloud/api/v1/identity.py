"""The caller's token."""

from __future__ import annotations

import orjson
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.reads import read_platform
from ipucloud.api.routing import operation, router
from ipucloud.contract.tokens import WhoamiOut
from ipucloud.identity.roles import Permission, Role, allowed
from ipucloud.identity.token_store import WHOAMI

routes = router()


@routes.get("/v1/whoami", **operation("whoami", "Read the caller's token", Permission.CATALOGUE_READ, gives=WhoamiOut))
async def whoami(request: Request) -> Response:
    """Return the caller's token, project, role and permissions."""
    row = await read_platform(request, WHOAMI)
    role = Role(row.role)
    body = {
        "token": orjson.Fragment(row.token),
        "role": role,
        "scopes": sorted(permission for permission in Permission if allowed(role, permission)),
        "project": None if row.project is None else orjson.Fragment(row.project),
    }
    return Response(orjson.dumps(body), media_type=JSON)
