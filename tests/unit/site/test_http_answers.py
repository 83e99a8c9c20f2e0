"""What a site's HTTP interface answers, as it is understood."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest

from ipucloud.site.calls import Call
from ipucloud.site.http import HttpCalls
from ipucloud.site.pace import Pace
from ipucloud.wire.site import Job
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.anyio


class Site(BaseHTTPRequestHandler):
    """Answers with the job whose end is told like the path."""

    def do_GET(self) -> None:
        detail = bytes.fromhex(self.path[1:]).decode()
        body = json.dumps({"name": "j", "ended": "not_started", "detail": detail}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Requests are not logged."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("told", "understood"),
    [
        ("no such\x00file\x00\x00", "no such\ufffdfile\ufffd\ufffd"),
        (r"a \u0000 that was spelled out", r"a \u0000 that was spelled out"),
        ("\\\x00", "\\\ufffd"),
        ("\\\\u0000", "\\\\u0000"),
    ],
)
async def test_a_nul_that_no_database_stores_is_replaced(site: str, told: str, understood: str) -> None:
    async with httpx.AsyncClient(base_url=site, trust_env=False) as client:
        calls = HttpCalls(client, PATIENCE, lambda: PATIENCE, Pace())
        job = await calls.read(Call.GET_JOB, "GET", f"/{told.encode().hex()}", Job)
    assert job is not None
    assert job.detail == understood
