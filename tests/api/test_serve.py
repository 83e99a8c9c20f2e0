"""The API as a process of its own: it starts, drains and ends."""

from __future__ import annotations

import signal
import threading

import httpx
import pytest

from tests.api.support import Api, cluster_id
from tests.support.api_process import api_process
from tests.support.postgres import Database as Scratch
from tests.support.waiting import eventually

pytestmark = pytest.mark.anyio


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
