"""HTTP servers of a run, all alike: one process, uvicorn with uvloop and httptools, no access log, on loopback."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from bench.child import Child

HOST = "127.0.0.1"
READY_SECONDS = 60.0

# The options `ipucloud.api.serve` sets for itself, as uvicorn's command line has them.
_OPTIONS = (
    *("--host", HOST, "--loop", "uvloop", "--http", "httptools", "--log-level", "warning"),
    *("--timeout-keep-alive", "75", "--no-access-log", "--no-server-header"),
)
_UNLIMITED = {
    f"IPUCLOUD_{limit}_{each}": value
    for limit in ("RATE_LIMIT", "PROJECT_RATE_LIMIT")
    for each, value in (("PER_SECOND", "1e9"), ("BURST", "1000000000"))
}
_API = "from ipucloud.api.serve import run; from ipucloud.config import Settings; run(Settings())"


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    port: int
    pid: int


@contextmanager
def serving_product(folder: Path, database_url: str, *, limited: bool = False) -> Iterator[Server]:
    """The API as `ipucloud api` runs it; unless `limited`, without its rate limits, which one caller would reach."""
    port = free_port()
    environment = {
        "IPUCLOUD_DATABASE_URL": database_url,
        "IPUCLOUD_PORT": str(port),
        "IPUCLOUD_INTERNAL_PORT": "0",
    }
    log = folder / f"api-{port}.log"
    with Child.python("-c", _API, log=log, environment=({} if limited else _UNLIMITED) | environment) as server:
        yield awaited(port, server)


@contextmanager
def serving(
    factory: str,
    folder: Path,
    environment: Mapping[str, str] = MappingProxyType({}),
    *,
    python: str | None = None,
) -> Iterator[Server]:
    """The application that `factory` (`module:function`) makes; `python`: an interpreter with packages of its own."""
    port = free_port()
    arguments = ("-m", "uvicorn", factory, "--factory", "--port", str(port), *_OPTIONS)
    log = folder / f"{factory.partition(':')[0]}-{port}.log"
    with Child.python(*arguments, log=log, environment=environment, interpreter=python) as server:
        yield awaited(port, server)


def request(method: str, path: str, *, headers: Mapping[str, str] = MappingProxyType({}), body: str = "") -> str:
    """An HTTP/1.1 request as it goes over the wire."""
    length = {"Content-Type": "application/json", "Content-Length": str(len(body.encode()))} if body else {}
    lines = [f"{name}: {value}" for name, value in ({"Host": HOST} | dict(headers) | length).items()]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", body])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def awaited(port: int, server: Child) -> Server:
    """The server once it answers. Raises ChildFailed when it does not."""
    deadline = time.monotonic() + READY_SECONDS
    while server.running and time.monotonic() < deadline:
        try:
            socket.create_connection((HOST, port), timeout=1.0).close()
        except OSError:
            time.sleep(0.05)
        else:
            return Server(port, server.pid)
    raise server.failure("does not answer")
