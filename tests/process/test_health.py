"""What the health check of the image asks."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from ipucloud.process import health
from tests.support.ports import free_ports


class Internal(BaseHTTPRequestHandler):
    """An internal listener of a process that lives, and is not ready."""

    def do_GET(self) -> None:  # as http.server has it
        self.send_response({"/livez": 200, "/readyz": 503}[self.path])
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), Internal) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield server.server_port
        server.shutdown()
        serving.join()


@pytest.mark.parametrize("variable", health.LISTENERS)
def test_whichever_process_listens_is_asked(port: int, variable: str) -> None:
    [silent] = free_ports(1)
    listeners = dict.fromkeys(health.LISTENERS, str(silent)) | {variable: str(port)}
    statuses = [
        subprocess.run([sys.executable, "-m", health.__name__, *path], env=listeners, check=False).returncode
        for path in ([], ["/livez"], ["/readyz"])
    ]
    assert statuses == [0, 0, 1]


def test_without_a_listener_it_fails() -> None:
    [silent] = free_ports(1)
    assert not health.answers(silent, "/livez")
