"""`ipucloud` as real processes, and what is left of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import httpx

from tests.support.plain import NOBODY
from tests.support.waiting import PATIENCE, eventually

MARK = "IPU_TEST_MARK"
"""A variable that every process inherits, however deep it is started."""


def marked(mark: str) -> dict[int, list[str]]:
    """The command lines of the processes with this mark, by their ids."""
    commands = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                commands[int(folder.name)] = (folder / "cmdline").read_bytes().decode().split("\0")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return commands


class Ipucloud:
    """Everything started through it carries one mark. `stderr` is what the next command gets as its standard error."""

    def __init__(self, folder: Path) -> None:
        self._mark = uuid4().hex
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self._config = folder / "config"
        self.stderr = subprocess.PIPE

    def start(self, *command: str, **environment: str) -> subprocess.Popen[str]:
        """`ipucloud <command>`, with pipes."""
        return self._start(self.stderr, command, environment)

    def start_logged(self, err: Path, *command: str, **environment: str) -> subprocess.Popen[str]:
        """`ipucloud <command>`, with a pipe for its output; what it says is appended to a file."""
        with err.open("a") as messages:
            return self._start(messages, command, environment)

    def _start(
        self, err: int | IO[str], command: tuple[str, ...], environment: Mapping[str, str]
    ) -> subprocess.Popen[str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("IPUCLOUD_")}
        own_settings = {MARK: self._mark, "TMPDIR": str(self.temporary), "IPUCLOUD_CONFIG_DIR": str(self._config)}
        return subprocess.Popen(
            [sys.executable, "-m", "ipucloud.cli.main", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=err,
            text=True,
            env={**inherited, **own_settings, **environment},
            start_new_session=True,
        )

    def json(self, *command: str, **environment: str) -> Any:
        """The document that `ipucloud <command> --json` prints; it must succeed."""
        with self.start(*command, "--json", **environment) as process:
            out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        return json.loads(out)

    def still_running(self) -> list[str]:
        """The command lines of what still runs."""
        return [" ".join(words)[:200] for words in marked(self._mark).values()]

    def pids(self, *words: str) -> list[int]:
        """The processes whose command line has all these words."""
        return [pid for pid, command in marked(self._mark).items() if set(words) <= set(command)]


@contextmanager
def ipucloud_processes(folder: Path) -> Iterator[Ipucloud]:
    started = Ipucloud(folder)
    try:
        yield started
    finally:
        for pid in started.pids():
            os.kill(pid, signal.SIGKILL)
        eventually(lambda: started.still_running() == [], "what the test killed ends")


class Up:
    """An `ipucloud up`: what it announces once it runs, and what it says meanwhile."""

    def __init__(self, ipucloud: Ipucloud, process: subprocess.Popen[str], data: Path, err: Path) -> None:
        self.ipucloud = ipucloud
        self.process = process
        self.data = data
        self._err = err

    @cached_property
    def facts(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.messages
        announced: dict[str, Any] = json.loads(line)
        return announced

    @property
    def messages(self) -> str:
        return self._err.read_text()

    @property
    def environment(self) -> dict[str, str]:
        return {"IPUCLOUD_URL": self.facts["url"], "IPUCLOUD_TOKEN": self.facts["token"]}

    def answers(self) -> bool:
        """Whether the API can be reached now."""
        try:
            return httpx.get(f"{self.facts['url']}/livez", timeout=5, trust_env=False, verify=NOBODY).is_success
        except httpx.HTTPError:
            return False

    @property
    def site_url(self) -> str:
        url: str = json.loads((self.data / "site-ready.json").read_text())["url"]
        return url

    @property
    def site_token(self) -> str:
        return (self.data / "site-token").read_text().strip()

    def stop(self, number: signal.Signals = signal.SIGINT) -> str:
        """Stop it and answer its messages."""
        self.process.send_signal(number)
        self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, self.messages
        return self.messages


@contextmanager
def starting(ipucloud: Ipucloud, data: Path, *options: str) -> Iterator[Up]:
    """An `ipucloud up` that was started just now; its `facts` wait until it runs."""
    err = data.with_name(f"{data.name}.err")
    environment = {"IPUCLOUD_DATA_DIR": str(data), "IPUCLOUD_PORT": "0"}
    with ipucloud.start_logged(err, "up", "--json", *options, **environment) as process:
        try:
            yield Up(ipucloud, process, data, err)
        finally:
            process.kill()


@contextmanager
def up(ipucloud: Ipucloud, data: Path, *options: str) -> Iterator[Up]:
    with starting(ipucloud, data, *options) as started:
        assert started.facts
        yield started
