"""Every kind of process as an operator starts it, with a standard error of the test's choosing."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from tests.support.plain import NOBODY
from tests.support.waiting import PATIENCE, eventually

KINDS = ("api", "worker", "simulator")
NOWHERE = "http://127.0.0.1:9"
"""A site that refuses every call: it gives a worker something to log."""


class Service:
    """A process and where it answers."""

    def __init__(self, process: subprocess.Popen[bytes], url: str, internal: str) -> None:
        self.process = process
        self.outside = httpx.Client(base_url=url, timeout=PATIENCE, trust_env=False, verify=NOBODY)
        self.inside = httpx.Client(base_url=internal, timeout=PATIENCE, trust_env=False, verify=NOBODY)

    def answers(self) -> bool:
        """Whether it can be reached; it must not have ended."""
        assert self.process.poll() is None
        with suppress(httpx.TransportError):
            return not self.inside.get("/metrics").is_server_error
        return False

    @property
    def lost(self) -> int:
        """Lines of its log that are lost, by its own count."""
        [value] = re.findall(r"^log_lines_lost_total (.+)$", self.inside.get("/metrics").text, re.MULTILINE)
        return int(float(value))

    def stop(self) -> int:
        """Ask it to end; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.outside.close()
        self.inside.close()


@contextmanager
def service(kind: str, stderr: int | None, folder: Path, database_url: str, **settings: str) -> Iterator[Service]:
    """The process, once it answers. Without `stderr` its standard error is closed."""
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [bound.getsockname()[1] for bound in listeners]
    if kind == "simulator":
        for bound in listeners:
            bound.close()
        command = ["ipucloud.laboratory.simulator.main", "--data", str(folder / "site"), "--no-fsync"]
        command += ["--time-scale", "0", "--http-port", str(ports[0])]
        ports[1] = ports[0]
        environment = {"IPUCLOUD_SITE_TOKEN": "token"}
    else:
        command = ["ipucloud.cli.main", kind]
        environment = {"IPUCLOUD_DATABASE_URL": database_url, "IPUCLOUD_SITE_URL": NOWHERE}
        environment |= {"IPUCLOUD_LISTEN_FD": str(listeners[0].fileno())} if kind == "api" else {}
        environment |= {"IPUCLOUD_INTERNAL_LISTEN_FD": str(listeners[1].fileno())}
    shell = ["sh", "-c", 'exec "$@" 2>&-', "sh"] if stderr is None else []
    process = subprocess.Popen(
        [*shell, sys.executable, "-m", *command],
        env=outer() | environment | settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        pass_fds=[bound.fileno() for bound in listeners if bound.fileno() >= 0],
    )
    for bound in listeners:
        bound.close()
    running = Service(process, *(f"http://127.0.0.1:{port}" for port in ports))
    try:
        eventually(running.answers, f"the {kind} answers")
        yield running
    finally:
        running.close()


def outer() -> dict[str, str]:
    """The environment without settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith("IPUCLOUD_")}


@contextmanager
def pipe(*, full: bool = False) -> Iterator[tuple[int, int]]:
    """A pipe's reading and writing ends; a `full` one takes nothing until it is read."""
    ends = os.pipe()
    if full:
        os.set_blocking(ends[1], False)
        with suppress(BlockingIOError):
            while True:
                os.write(ends[1], b"\n" * 4096)
        os.set_blocking(ends[1], True)
    try:
        yield ends
    finally:
        for end in ends:
            with suppress(OSError):
                os.close(end)


def each_of(reading: int) -> Iterator[dict[str, Any]]:
    """The events that a pipe gives, until its last writer is gone. Every line is one."""
    with open(reading, "rb", closefd=False) as stream:
        for line in stream:
            if line != b"\n":  # what filled a full pipe
                yield json.loads(line)
