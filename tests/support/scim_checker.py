"""The protocol's own checker and client, talking to the application of a test. They take two seconds to import."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from uuid import uuid4

import httpx
from pydantic import Field
from scim2_client import BaseSyncSCIMClient
from scim2_models import Required, ResourceType, ScimProvider, Uniqueness
from scim2_tester import CheckResult, check_server

from ipucloud.extras.scim import errors, shapes

EXAMPLES = [f"person-{uuid4()}@example.com" for _ in range(10_000)]


async def checked(caller: httpx.AsyncClient) -> list[CheckResult]:
    return await asyncio.to_thread(check_server, ScimClient(caller))


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
