"""The protocol's own client, talking to the application of a test, and a caller as identity providers are."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from uuid import uuid4

import httpx
from pydantic import Field
from scim2_client import BaseSyncSCIMClient
from scim2_models import Required, ResourceType, ScimProvider, Uniqueness

from ipucloud.api.scim import errors, shapes
from ipucloud.identity.roles import Role
from tests.api.support import Api

EXAMPLES = [f"person-{uuid4()}@example.com" for _ in range(10_000)]
USERS = f"{errors.PATH}/Users"
CORE = "urn:ietf:params:scim:schemas:core:2.0:User"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
TYPE = "application/scim+json"


class User(shapes.User):
    """As published, with e-mails to try: nothing in a schema says that a string is one."""

    user_name: Annotated[str | None, Uniqueness.server, Required.true] = Field(None, examples=EXAMPLES)


class ScimClient(BaseSyncSCIMClient):
    """For another thread than that of the event loop in which the application is."""

    def __init__(self, caller: httpx.AsyncClient) -> None:
        super().__init__(provider=ScimProvider(models=[User], resource_types=[ResourceType.from_resource(User)]))
        self._caller, self._loop = caller, asyncio.get_running_loop()

    def request(self, method: str, url: str, **options: Any) -> httpx.Response:
        path = url if "://" in url else f"{errors.PATH}/{url.lstrip('/')}"
        return asyncio.run_coroutine_threadsafe(self._caller.request(method, path, **options), self._loop).result()

    def _stays_under_base_url(self, endpoint: str) -> bool:
        return not endpoint.startswith("http") or endpoint.startswith(f"http://api{errors.PATH}/")

    def _parse_json(self, response: Any) -> Any:
        return response.json()


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
