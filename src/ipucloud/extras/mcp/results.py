"""What tools return: answers of the API as JSON, without secrets; and its refusals, for an assistant to read."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from typing import Any, TypeAlias, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

from ipucloud.client.aio import AsyncClient
from ipucloud.client.call import Call
from ipucloud.client.errors import ApiError, ClientError
from ipucloud.client.models import Page

Result: TypeAlias = dict[str, Any]
Answer = TypeVar("Answer")

HIDDEN = "(not shown)"
_SECRET_FIELDS = frozenset({"access_key", "environment", "password", "secret", "token", "user_data"})
_SECRETS = re.compile(r"\bip[a-z]_(?:[a-z]{2,8}_)?[0-9A-Za-z]{49}(?![0-9A-Za-z])")
"""Tokens and other secrets of the service, wherever a text has one."""


def shown(value: object) -> Any:  # Any: JSON
    """The value as JSON, with what is or may be a secret replaced."""
    if isinstance(value, BaseModel):
        return shown(value.model_dump(mode="json"))
    if isinstance(value, dict):
        return {
            name: HIDDEN if name in _SECRET_FIELDS and isinstance(each, str | dict) and each else shown(each)
            for name, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [shown(each) for each in value]
    return _SECRETS.sub(HIDDEN, value) if isinstance(value, str) else value


def items(page: Page[Any]) -> Result:
    """A list, or its first part."""
    return {"items": shown(page.items), "more": page.next_cursor is not None}


async def run(client: AsyncClient, call: Call[Answer]) -> Answer:
    """Run the call. Raises ToolError with the service's own sentence and the error's code."""
    return await readable(client.run(call))


async def answer_of(client: AsyncClient, call: Call[Answer]) -> Result:
    """Run the call; its answer as JSON. Raises ToolError, as `run` does."""
    answer = await run(client, call)
    return dict(shown(answer))


async def readable(answer: Awaitable[Answer]) -> Answer:
    """Wait for the answer. Raises ToolError, as `run` does."""
    try:
        return await answer
    except ApiError as error:
        raise ToolError(shown(f"{error.code}: {error}")) from error
    except ClientError as error:
        raise ToolError(shown(str(error))) from error
