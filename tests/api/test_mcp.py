"""`ipucloud mcp` as an assistant's program uses it: the protocol's own client, a real process, a real API."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ipucloud.client.aio import AsyncClient
from ipucloud.extras.mcp.reading import Reading
from ipucloud.identity.roles import Role
from tests.api.support import Api
from tests.support.api_process import ApiProcess, api_process
from tests.support.factories import make_token
from tests.support.filled_in import openapi
from tests.support.postgres import Database as Scratch
from tests.support.world import IMAGE

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

pytestmark = pytest.mark.anyio

BERT = {
    "name": "bert", "region": "luxembourg-2", "flavor": "m2000-pod4", "image": IMAGE, "ssh_keys": ["laptop"]
}  # fmt: skip


@pytest.fixture
def served(api: Api, database: Scratch) -> Iterator[ApiProcess]:
    with api_process(url=database.app_url) as process:
        yield process


@asynccontextmanager
async def assistant(
    served: ApiProcess, api: Api, folder: Path, *arguments: str, secret: str | None = None, messages: Path | None = None
) -> AsyncIterator[Client]:
    """A session of `ipucloud mcp`, with the owner's token or another; what it says to people is in `messages`."""
    from mcp import Client, StdioServerParameters, stdio_client

    inherited = {name: value for name, value in os.environ.items() if not name.startswith("IPUCLOUD_")}
    environment = inherited | {
        "IPUCLOUD_URL": f"http://127.0.0.1:{served.port}",
        "IPUCLOUD_TOKEN": secret or api.world.project.token.secret,
        "IPUCLOUD_PROJECT": api.world.project.slug,
        "IPUCLOUD_CONFIG_DIR": str(folder),
    }
    program = StdioServerParameters(
        command=sys.executable, args=["-m", "ipucloud.cli.main", "mcp", *arguments], env=environment
    )
    with (messages or folder / "messages").open("w") as errlog:
        async with Client(stdio_client(program, errlog=errlog)) as client:
            yield client


async def done(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    """What the tool returned."""
    result = await called(client, tool, **arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)


async def called(client: Client, tool: str, **arguments: object) -> CallToolResult:
    from mcp.types import CallToolResult

    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    return result


async def refused(client: Client, tool: str, **arguments: object) -> str:
    """What an assistant reads of a refusal."""
    result = await called(client, tool, **arguments)
    assert result.is_error
    return " ".join(each.text for each in result.content if each.type == "text")


async def test_a_session_only_reads_by_default(served: ApiProcess, api: Api, tmp_path: Path) -> None:
    operation = await api.make_cluster(user_data="#!/bin/sh\necho hunter2\n")
    async with assistant(served, api, tmp_path) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"list_clusters", "estimate_cluster", "get_job_log"} <= tools.keys()
        assert not {"create_cluster", "delete_cluster", "run_job"} & tools.keys()
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools.values())
        [cluster] = (await done(client, "list_clusters"))["items"]
        shown = await done(client, "get_cluster", cluster=cluster["name"])
        assert (shown["id"], shown["state"]) == (operation["target"]["id"], "creating")
        assert "hunter2" not in str(shown)
        assert "secret_hash" not in str(await done(client, "whoami"))
        assert "not_found" in await refused(client, "get_cluster", cluster="nothing")
        assert "is_error" not in await done(client, "list_flavors")
        assert (await done(client, "list_volumes"))["items"] == []
        assert (await done(client, "list_addresses"))["items"] == []
    assert await api.world.column("SELECT count(*) FROM tokens WHERE cost_limit IS NOT NULL") == [0]


async def test_tools_without_a_scope_are_not_offered(served: ApiProcess, api: Api, tmp_path: Path) -> None:
    body = {"name": "assistant", "role": "operator", "scopes": ["catalogue:read", "usage:read"]}
    narrow = (await api.owner.post(f"{api.base}/tokens", json=body)).json()["token"]
    async with assistant(served, api, tmp_path, secret=narrow) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
    catalogue = {"list_regions", "get_capacity", "list_flavors", "list_images", "list_recipes"}
    assert tools == catalogue | {"whoami", "get_cluster_usage", "get_project_usage"}


def test_a_tool_is_offered_with_the_scope_of_its_operation() -> None:
    paths = openapi()["paths"].values()
    operations = [each for path in paths for each in path.values() if "x-permission" in each]
    scopes = {each["operationId"]: each["x-permission"] for each in operations}
    others = {"get_capacity": "getRegionCapacity", "estimate_resize": "estimateClusterResize"}
    reading = Reading(AsyncClient("http://localhost", "ipu_test"))
    tools = {each.__name__ for each in reading.tools(scopes.values())} - {"whoami"}
    assert len(tools) == 22
    for tool in tools:
        first, *more = tool.split("_")
        scope = scopes[others.get(tool, first + "".join(word.capitalize() for word in more))]
        assert tool in {each.__name__ for each in reading.tools({scope})}


async def test_what_costs_is_previewed_confirmed_and_limited(served: ApiProcess, api: Api, tmp_path: Path) -> None:
    limited = "SELECT revoked_at IS NOT NULL FROM tokens WHERE cost_limit = 5 AND role = 'operator'"
    async with assistant(served, api, tmp_path, "--allow-writes", "--max-cost", "5EUR") as client:
        assert await api.world.column(limited) == [False]
        preview = await done(client, "create_cluster", **BERT)
        assert preview["done"] is False
        assert preview["preview"]["session"]["cost_limit"] == {"amount": "5.00", "currency": "EUR"}
        code = preview["confirmation"]
        assert await api.world.column("SELECT name FROM clusters") == []
        assert "for another request" in await refused(
            client, "create_cluster", **BERT | {"name": "ernie"}, confirmation=code
        )
        assert "unknown" in await refused(client, "create_cluster", **BERT, confirmation=code)
        assert "checkpoints" in await refused(client, "create_cluster", **BERT, volumes=["checkpoints"])
        code = (await done(client, "create_cluster", **BERT))["confirmation"]
        begun = await done(client, "create_cluster", **BERT, confirmation=code)
        assert begun["operation"]["kind"] == "cluster.create"
        second = BERT | {"name": "ernie"}
        code = (await done(client, "create_cluster", **second))["confirmation"]
        assert "cost_limit_reached" in await refused(client, "create_cluster", **second, confirmation=code)
        assert await api.world.column("SELECT name FROM clusters") == ["bert"]
        preview = await done(client, "delete_cluster", cluster="bert")
        assert "for ever" in preview["effect"]
        await done(client, "delete_cluster", cluster="bert", confirmation=preview["confirmation"])
        assert await api.world.column("SELECT state FROM clusters") == ["deleting"]
    assert await api.world.column(limited) == [True]


async def test_who_may_not_create_tokens_brings_one_with_a_limit(served: ApiProcess, api: Api, tmp_path: Path) -> None:
    async with api.world.database.begin() as connection:
        plain = await make_token(connection, api.world.project.id, Role.OPERATOR)
    messages = tmp_path / "said"
    with pytest.raises(BaseException):  # noqa: B017, PT011  # the protocol's client says only that the process ended
        async with assistant(
            served, api, tmp_path, "--allow-writes", "--max-cost", "5EUR", secret=plain.secret, messages=messages
        ) as client:
            await client.list_tools()
    assert "only an owner of the project can create one" in " ".join(messages.read_text().split())
    limit = {"amount": "5.00", "currency": "EUR"}
    token = await api.owner.post(f"{api.base}/tokens", json={"name": "a", "role": "operator", "cost_limit": limit})
    assert (token.json()["cost_limit"], token.json()["cost"]) == (limit, {"amount": "0.00", "currency": "EUR"})
    async with assistant(served, api, tmp_path, "--allow-writes", secret=token.json()["token"]) as client:
        assert (await done(client, "whoami"))["cost_limit"] == limit
