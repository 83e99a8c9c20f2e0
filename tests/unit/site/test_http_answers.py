"""What a site's HTTP interface answers, as it is understood."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import repeat
from urllib.parse import quote, unquote

import httpx
import pytest

from ipucloud.site import http
from ipucloud.site.calls import Call, Pace
from ipucloud.site.http import HttpCalls, HttpNetworks
from ipucloud.site.ports import SiteUnknown
from ipucloud.wire.site import Job, NetworkSpec
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.anyio


def deep(levels: int) -> bytes:
    return b'{"networks": ' + b"[" * levels + b"]" * levels + b"}"


GARBAGE: dict[str, tuple[dict[str, str], list[bytes]]] = {
    "nothing": ({}, []),
    "a page of a proxy": ({"Content-Type": "text/html"}, [b"<html><body>Welcome</body></html>"]),
    "null": ({}, [b"null"]),
    "a list": ({}, [b"[]"]),
    "another object": ({}, [b'{"machines": 4}']),
    "other types": ({}, [b'{"networks": [{"name": 1, "state": {}, "spec": []}]}']),
    "cut": ({}, [b'{"networks": [']),
    "no UTF-8": ({}, [b'{"networks": [{"name": "\xff\xfe"}]}']),
    "deep": ({}, [deep(100_000)]),
    "a number without end": ({}, [b'{"networks": ' + b"9" * 1_000_000 + b"}"]),
    "a bomb": ({"Content-Encoding": "gzip"}, [gzip.compress(bytes(10_000_000))]),
    "without end": ({}, repeat(bytes(100_000))),  # type: ignore[dict-item]  # it has no length
}
"""Headers and pieces of a body with status 200."""


class Site(BaseHTTPRequestHandler):
    """Answers every request with the garbage that its path names first, or a job whose end is told like `job/…`."""

    def do_GET(self) -> None:
        first, _, rest = self.path[1:].partition("/")
        if first == "job":
            job = {"name": "j", "ended": "not_started", "detail": bytes.fromhex(rest).decode()}
            headers, pieces = dict[str, str](), [json.dumps(job).encode()]
        else:
            headers, pieces = GARBAGE[unquote(first)]
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(ConnectionError):
            for piece in pieces:
                self.wfile.write(piece)

    def do_PUT(self) -> None:
        self.do_GET()

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


async def test_garbage_is_an_unknown_outcome_whatever_it_is(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of reads and of changes alike: what was asked for may have been done."""
    spec = NetworkSpec(region="luxembourg-2", machines=[], hosts=[])
    wrong = {}
    monkeypatch.setattr(http, "MOST_BYTES", 2_000_000)
    for name in GARBAGE:
        async with httpx.AsyncClient(base_url=f"{site}/{quote(name)}", trust_env=False) as client:
            networks = HttpNetworks(HttpCalls(client, PATIENCE, lambda: PATIENCE, Pace()))
            for call in (networks.get("n"), networks.list("luxembourg-2"), networks.put("n", spec)):
                try:
                    wrong[name] = await call
                except SiteUnknown:
                    continue
    assert wrong == {}


@pytest.mark.parametrize(
    ("sent", "understood"),
    [
        ("no such\x00file\x00\x00", "no such\ufffdfile\ufffd\ufffd"),
        (r"a \u0000 that was spelled out", r"a \u0000 that was spelled out"),
        ("\\\x00", "\\\ufffd"),
        ("\\\\u0000", "\\\\u0000"),
    ],
)
async def test_a_nul_that_no_database_stores_is_replaced(site: str, sent: str, understood: str) -> None:
    async with httpx.AsyncClient(base_url=site, trust_env=False) as client:
        calls = HttpCalls(client, PATIENCE, lambda: PATIENCE, Pace())
        job = await calls.read(Call.GET_JOB, "GET", f"/job/{sent.encode().hex()}", Job)
    assert job is not None
    assert job.detail == understood
