"""The protocol's own client, talking to the application of a test."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any
from uuid import uuid4

import anyio.from_thread
import httpx
from pydantic import Field
from scim2_client import BaseSyncSCIMClient
from scim2_models import Required, ResourceType, ScimProvider, Uniqueness

from ipucloud.api.scim import shapes

EXAMPLES = [f"person-{uuid4()}@example.com" for _ in range(10_000)]


class User(shapes.User):
    """As published, with e-mails to try: nothing in a schema says that a string is one."""

    user_name: Annotated[str | None, Uniqueness.server, Required.true] = Field(None, examples=EXAMPLES)


class ScimClient(BaseSyncSCIMClient):
    """For a thread of the event loop in which the application is."""

    def __init__(self, caller: httpx.AsyncClient) -> None:
        super().__init__(provider=ScimProvider(models=[User], resource_types=[ResourceType.from_resource(User)]))
        self._caller = caller

    def request(self, method: str, url: str, **options: Any) -> httpx.Response:
        path = url if "://" in url else f"{shapes.PATH}/{url.lstrip('/')}"
        return anyio.from_thread.run(partial(self._caller.request, method, path, **options))

    def _stays_under_base_url(self, endpoint: str) -> bool:
        return not endpoint.startswith("http") or endpoint.startswith(f"http://api{shapes.PATH}/")

    def _parse_json(self, response: Any) -> Any:
        return response.json()
