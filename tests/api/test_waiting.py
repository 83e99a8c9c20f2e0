"""Long polls: an answer when the operation is done, when the time is up, or when the process is about to end."""

from __future__ import annotations

import asyncio
import signal
import threading

import httpx
import pytest

from ipucloud.api.v1 import operations
from tests.api.support import Api, cluster_id, problem
from tests.support.api_process import api_process
from tests.support.postgres import Database as Scratch
from tests.support.waiting import eventually

pytestmark = pytest.mark.anyio


async def long_poll(api: Api, path: str, wait: str) -> asyncio.Task[httpx.Response]:
    """A long poll that has looked at the operation at least once."""
    looked = asyncio.Event()
    look = operations._read

    async def watched(*arguments: object) -> object:
        result = await look(*arguments)  # type: ignore[arg-type]  # passed on as they came
        looked.set()
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations, "_read", watched)
        task = asyncio.create_task(api.owner.get(path, params={"wait": wait}))
        await looked.wait()
    return task


async def test_the_answer_comes_when_the_operation_is_done(api: Api) -> None:
    operation = await api.make_cluster()
    path = f"{api.base}/operations/{operation['id']}"
    waiting = await long_poll(api, path, "60")
    assert not waiting.done()
    await api.world.finish_create(cluster_id(operation))
    answer = await waiting
    assert answer.json()["done"]
    assert answer.json()["state"] == "succeeded"
    assert "retry-after" not in answer.headers


async def test_the_answer_comes_when_the_time_is_up_which_is_a_minute_at_most(api: Api) -> None:
    path = f"{api.base}/operations/{(await api.make_cluster())['id']}"
    for wait in ("61", "-1", "soon", "nan"):
        problem(await api.owner.get(path, params={"wait": wait}), 422, "validation_failed")
    answer = await api.owner.get(path, params={"wait": "0.1"})
    assert not answer.json()["done"]
    assert int(answer.headers["retry-after"]) >= 1


async def test_a_process_that_ends_lets_nobody_wait(api: Api) -> None:
    operation = await api.make_cluster()
    waiting = await long_poll(api, f"{api.base}/operations/{operation['id']}", "60")
    api.services.draining.set()
    assert not (await waiting).json()["done"]
    problem(await api.owner.get("/readyz"), 503, "unavailable")


async def test_who_waits_holds_no_connection(api: Api) -> None:
    operation = await api.make_cluster()
    path = f"{api.base}/operations/{operation['id']}"
    waiting = [await long_poll(api, path, "60") for _ in range(3 * api.services.settings.database_pool_size)]
    assert (await api.owner.get(f"{api.base}/clusters")).status_code == 200
    await api.world.finish_create(cluster_id(operation))
    assert {answer.json()["state"] for answer in await asyncio.gather(*waiting)} == {"succeeded"}


async def test_a_token_revoked_meanwhile_waits_no_longer(api: Api) -> None:
    operation = await api.make_cluster()
    waiting = await long_poll(api, f"{api.base}/operations/{operation['id']}", "60")
    await api.world.execute("UPDATE tokens SET revoked_at = app_now()")
    problem(await waiting, 401, "unauthenticated")
    again = await api.owner.get("/v1/whoami")
    assert again.headers["ratelimit-policy"].startswith('"address"')  # it is not known to be valid any more


async def test_a_create_is_cancelled_once(api: Api) -> None:
    operation = await api.make_cluster()
    path = f"{api.base}/operations/{operation['id']}"
    answer = await api.owner.post(f"{path}:cancel")
    assert (answer.status_code, answer.json()["state"]) == (202, "cancelling")
    assert answer.headers["location"].endswith(operation["id"])
    assert await api.world.column("SELECT wake_seq FROM work WHERE kind = 'cluster'") == [2]
    problem(await api.owner.post(f"{path}:cancel"), 409, "state_conflict")


async def test_a_drain_finishes_what_was_begun(api: Api, database: Scratch) -> None:
    operation = await api.make_cluster()
    path = f"{api.base}/operations/{operation['id']}?wait=60"
    headers = {"Authorization": f"Bearer {api.world.project.token.secret}"}
    with api_process({"drain_seconds": 8}, url=database.app_url) as server:
        waiting: list[httpx.Response] = []
        poll = threading.Thread(target=lambda: waiting.append(server.outside.get(path, headers=headers)))
        poll.start()
        eventually(lambda: server.active() == 1, "the poll is under way")
        server.process.send_signal(signal.SIGTERM)
        eventually(lambda: server.inside.get("/readyz").status_code == 503, "the process says that it ends")
        poll.join()
        assert (waiting[0].status_code, waiting[0].json()["done"]) == (200, False)
        assert server.process.wait(60) == 0
    assert cluster_id(operation)


async def test_nobody_waits_for_a_process_that_nobody_watches(database: Scratch) -> None:
    with api_process({"internal_port": 0, "drain_seconds": 400}, url=database.app_url) as server:
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(60) == 0
