"""The API as a process of its own: it starts, drains and ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.api.support import Api, cluster_id
from tests.support.postgres import Database as Scratch
from tests.support.waiting import eventually

pytestmark = pytest.mark.anyio

PROGRAM = "from ipucloud.api.serve import run; from ipucloud.config import Settings; run(Settings())"


def free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [bound.getsockname()[1] for bound in sockets]
    for bound in sockets:
        bound.close()
    return ports


@contextmanager
def serving(url: str, **settings: str) -> Iterator[tuple[subprocess.Popen[str], httpx.Client, httpx.Client]]:
    """The process, a client of its public listener and one of its internal listener."""
    public, internal = free_ports(2)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("IPUCLOUD_")} | {
        "IPUCLOUD_DATABASE_URL": url,
        "IPUCLOUD_PORT": str(public),
        "IPUCLOUD_INTERNAL_PORT": str(internal),
        **settings,
    }
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, stderr=subprocess.PIPE, text=True)
    with (
        httpx.Client(base_url=f"http://127.0.0.1:{public}", timeout=60) as outside,
        httpx.Client(base_url=f"http://127.0.0.1:{internal}", timeout=60) as inside,
    ):
        try:
            eventually(lambda: answers(outside), "the API answers")
            yield process, outside, inside
        finally:
            process.kill()
            process.communicate()


def answers(caller: httpx.Client) -> bool:
    try:
        return caller.get("/livez").status_code == 200
    except httpx.TransportError:
        return False


async def test_a_drain_finishes_what_was_begun(api: Api, database: Scratch) -> None:
    operation = await api.make_cluster()
    path = f"{api.base}/operations/{operation['id']}?wait=60"
    headers = {"Authorization": f"Bearer {api.cloud.project.token.secret}"}
    with serving(database.app_url, IPUCLOUD_DRAIN_SECONDS="8") as (process, outside, inside):
        waiting: list[httpx.Response] = []
        poll = threading.Thread(target=lambda: waiting.append(outside.get(path, headers=headers)))
        poll.start()
        eventually(lambda: "http_server_active_requests 1.0" in inside.get("/metrics").text, "the poll is under way")
        process.send_signal(signal.SIGTERM)
        eventually(lambda: inside.get("/readyz").status_code == 503, "the process says that it ends")
        poll.join()
        assert (waiting[0].status_code, waiting[0].json()["done"]) == (200, False)
        assert process.wait(60) == 0
    assert cluster_id(operation)


async def test_nobody_waits_for_a_process_that_nobody_watches(database: Scratch) -> None:
    with serving(database.app_url, IPUCLOUD_INTERNAL_PORT="0", IPUCLOUD_DRAIN_SECONDS="400") as (process, *_):
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
