"""`ipucloud api` as a process of its own, and who asks it."""

from __future__ import annotations

import json
import os
import re
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx

from ipucloud.config.constants import Constants, written
from tests.support.plain import NOBODY
from tests.support.ports import free_ports
from tests.support.waiting import PATIENCE, eventually

NO_DATABASE = "postgresql://nobody@127.0.0.1:1/nothing"
"""For tests that never get as far as the database."""
PROGRAM = "from ipucloud.api.serve import run; from ipucloud.config import Settings; run(Settings())"


@dataclass(frozen=True)
class ApiProcess:
    """A running API process: a client of its public listener, and one of its internal listener."""

    process: subprocess.Popen[bytes]
    port: int
    internal_port: int
    outside: httpx.Client
    inside: httpx.Client
    _log: Path

    def refused(self, reason: str, listener: str = "public") -> int:
        """How many clients the HTTP server has refused for this reason."""
        return self._metric("http_server_refused_total", f'listener="{listener}",reason="{reason}"')

    def connections(self) -> int:
        return self._metric("http_server_connections", 'listener="public"')

    def active(self) -> int:
        return self._metric("http_server_active_requests")

    def lines(self) -> list[dict[str, Any]]:
        """What it has logged; every line has to be a JSON object."""
        return [json.loads(line) for line in self._log.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def alive(self) -> bool:
        try:
            return self.outside.get("/livez").status_code == 200
        except httpx.TransportError:
            return False

    def _metric(self, name: str, labels: str = "") -> int:
        series = re.escape(f"{name}{{{labels}}}" if labels else name)
        matched = re.search(rf"^{series} (\S+)$", self.inside.get("/metrics").text, re.MULTILINE)
        assert matched is not None, series
        return int(float(matched[1]))


@contextmanager
def api_process(
    settings: Mapping[str, object] = MappingProxyType({}),
    *,
    url: str = NO_DATABASE,
    descriptors: int | None = None,
    trust: ssl.SSLContext | None = None,
) -> Iterator[ApiProcess]:
    """Start it and kill it at the end. `settings` by their names in `Settings`; `descriptors`: how many it may open.

    `trust`: it speaks TLS as localhost, and is verified by this.
    """
    base = "http://127.0.0.1" if trust is None else "https://localhost"
    public, internal = free_ports(2)
    values = {"database_url": url, "port": public, "internal_port": internal, **settings}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("IPUCLOUD_")}
    environment |= {
        f"IPUCLOUD_{name.upper()}": str(value) for name, value in values.items() if name not in Constants.model_fields
    }
    environment |= written(values)
    command = [sys.executable, "-c", PROGRAM]
    if descriptors is not None:
        command = ["sh", "-c", f'ulimit -n {descriptors} && exec "$0" "$@"', *command]
    with (
        tempfile.NamedTemporaryFile() as log,
        httpx.Client(base_url=f"{base}:{public}", timeout=PATIENCE, trust_env=False, verify=trust or False) as outside,
        httpx.Client(
            base_url=f"http://127.0.0.1:{internal}", timeout=PATIENCE, trust_env=False, verify=NOBODY
        ) as inside,
        subprocess.Popen(command, env=environment, stderr=log) as process,
    ):
        try:
            started = ApiProcess(process, public, internal, outside, inside, Path(log.name))
            eventually(started.alive, "the API answers")
            yield started
        finally:
            process.kill()
