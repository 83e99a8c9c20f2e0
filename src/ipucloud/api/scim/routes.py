"""The routes below `/scim/v2`."""

from __future__ import annotations

from starlette.routing import Route

from ipucloud.api.scim.errors import PATH
from ipucloud.api.scim.routing import ScimRoute

_USERS = f"{PATH}/Users"
_USER = f"{_USERS}/{{user}}"
routes: list[Route] = [
    ScimRoute(f"{PATH}/ServiceProviderConfig", "scimServiceProviderConfig", "GET"),
    ScimRoute(f"{PATH}/ResourceTypes", "scimListResourceTypes", "GET"),
    ScimRoute(f"{PATH}/ResourceTypes/{{id}}", "scimGetResourceType", "GET"),
    ScimRoute(f"{PATH}/Schemas", "scimListSchemas", "GET"),
    ScimRoute(f"{PATH}/Schemas/{{id}}", "scimGetSchema", "GET"),
    ScimRoute(_USERS, "scimListUsers", "GET"),
    ScimRoute(_USERS, "scimCreateUser", "POST"),
    ScimRoute(f"{_USERS}/.search", "scimSearchUsers", "POST"),
    ScimRoute(f"{PATH}/.search", "scimSearch", "POST"),
    ScimRoute(_USER, "scimGetUser", "GET"),
    ScimRoute(_USER, "scimReplaceUser", "PUT"),
    ScimRoute(_USER, "scimPatchUser", "PATCH"),
    ScimRoute(_USER, "scimDeleteUser", "DELETE"),
]
