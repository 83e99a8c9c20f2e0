"""A caller of the application of a test, as identity providers are."""

from __future__ import annotations

import httpx

from ipucloud.extras.scim import errors
from ipucloud.identity.roles import Role
from tests.api.support import Api

USERS = f"{errors.PATH}/Users"
CORE = "urn:ietf:params:scim:schemas:core:2.0:User"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
TYPE = "application/scim+json"


async def identity_provider(api: Api, *scopes: str) -> httpx.AsyncClient:
    """With a token that can do nothing but provision people, or has these scopes."""
    admin = await api.caller(Role.ADMIN)
    body = {"name": "directory", "role": "admin", "scopes": list(scopes) or ["person:provision"]}
    answer = await admin.post("/v1/tokens", json=body)
    assert answer.status_code == 201, answer.text
    caller = api.client(answer.json()["token"])
    caller.headers["Content-Type"] = TYPE
    return caller


def user_json(user_name: str, **more: object) -> dict[str, object]:
    return {"schemas": [CORE], "userName": user_name, **more}


def patch_json(*operations: dict[str, object]) -> dict[str, object]:
    return {"schemas": [PATCH], "Operations": list(operations)}


def activity(*, active: bool) -> dict[str, object]:
    """As Okta sends it."""
    return patch_json({"op": "replace", "value": {"active": active}})


def scim_error(answer: httpx.Response, status: int, scim_type: str | None = None) -> str:
    """The sentence of an error, after looking that it is one of SCIM."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == TYPE
    document = answer.json()
    assert (document["schemas"], document["status"]) == ([ERROR], str(status))
    assert document.get("scimType") == scim_type
    assert set(document) <= {"schemas", "status", "scimType", "detail"}
    detail: str = document["detail"]
    return detail
