"""The caller's token."""

from __future__ import annotations

import orjson
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.reads import read_itself
from ipucloud.api.routing import operation, router
from ipucloud.contract.tokens import WhoamiOut
from ipucloud.identity.roles import Permission, Rights
from ipucloud.identity.token_store import WHOAMI

routes = router()


@routes.get("/v1/whoami", **operation("whoami", "Read the caller's token", Permission.CATALOGUE_READ, gives=WhoamiOut))
async def whoami(request: Request) -> Response:
    """Return the caller's token, project, role and permissions."""
    row = await read_itself(request, WHOAMI)
    rights = Rights.of(row.rights)
    body = {
        "token": orjson.Fragment(row.token),
        "role": rights.role,
        "scopes": sorted(rights.scopes),
        "project": None if row.project is None else orjson.Fragment(row.project),
    }
    return Response(orjson.dumps(body), media_type=JSON)
