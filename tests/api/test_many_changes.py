"""Many changes of one project at once: all are answered, and other projects are served meanwhile."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import httpx
import pytest

from ipucloud.db.turns import AT_ONCE, CALLER
from tests.api.support import PUBLIC_KEY, Api, cluster_json, ok, problem
from tests.support.waiting import until

pytestmark = pytest.mark.anyio

CREATES = 24


async def limited(api: Api) -> httpx.AsyncClient:
    """A caller whose token has a cost limit, which covers all that the tests begin."""
    body = {"name": "limited", "role": "operator", "cost_limit": {"amount": "10000", "currency": "EUR"}}
    return api.client(ok(await api.owner.post(f"{api.base}/tokens", json=body), 201)["token"])


async def test_creates_at_once_with_one_cost_limited_token_are_all_answered(api: Api) -> None:
    """So is a resize among them, which needs the same rows. While they stand in line, other projects are served."""
    grown = await api.world.make_active("grown")
    neighbour = await api.other_project()
    database = api.services.database
    async with await limited(api) as caller, api.client(neighbour.token.secret) as stranger:
        assert (await caller.get(f"{api.base}/clusters")).status_code == 200
        resize = caller.post(f"{api.base}/clusters/{grown}:resize", json={"flavor": "m2000-pod8"})
        creates = [caller.post(f"{api.base}/clusters", json=cluster_json(f"c{each}")) for each in range(CREATES)]
        async with AsyncExitStack() as slow:
            CALLER.set(api.world.project.id)
            for _ in range(AT_ONCE):
                await slow.enter_async_context(database.begin())
            answered = asyncio.gather(*creates[: CREATES // 2], resize, *creates[CREATES // 2 :])
            await until(lambda: _stand(api, CREATES + 1), "all stand in line")
            key = {"name": "theirs", "public_key": PUBLIC_KEY}
            answer = await stranger.post(f"/v1/projects/{neighbour.slug}/ssh-keys", json=key)
            assert answer.status_code == 201, answer.text
        answers = await answered
    for answer in answers:
        if answer.status_code != 202:
            problem(answer, 409, "capacity_exhausted")  # the region has sixteen machines
    accepted = [answer.status_code for answer in answers].count(202)
    assert accepted > CREATES // 2
    counted = "SELECT count(*) FROM token_clusters WHERE stopped_at IS NULL"
    assert await api.world.value(counted) == accepted


async def _stand(api: Api, many: int) -> bool:
    return api.services.database.waiting == many
