"""`ipucloud up`: a system that goes down in order, comes back with its data, and never outlives its starter."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import Ipucloud
from tests.support.waiting import eventually

PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGsLsPG0tEBYgAJSQm/bNPNAkrF3HXFGDWmMvVWOWcU1"


class Up:
    """A running `ipucloud up` and what it announced."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        self.facts: dict[str, Any] = json.loads(line)

    @property
    def environment(self) -> dict[str, str]:
        return {"IPUCLOUD_URL": self.facts["url"], "IPUCLOUD_TOKEN": self.facts["token"]}

    def stop(self, number: signal.Signals = signal.SIGINT) -> str:
        """Stop it and answer what it said."""
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, err
        return err


@contextmanager
def up(ipucloud: Ipucloud, data: Path) -> Iterator[Up]:
    with ipucloud.start("up", "--json", IPUCLOUD_DATA_DIR=str(data), IPUCLOUD_PORT="0") as process:
        try:
            yield Up(process)
        finally:
            process.kill()


def test_data_survive_a_restart_and_the_token_with_them(ipucloud: Ipucloud, tmp_path: Path, data: Path) -> None:
    key = tmp_path / "key.pub"
    key.write_text(PUBLIC_KEY)
    with up(ipucloud, data) as first:
        ipucloud.json("ssh-keys", "add", "laptop", str(key), **first.environment)
        first.stop()
        assert ipucloud.left() == []
    with up(ipucloud, data) as second:
        assert second.facts["token"] == first.facts["token"]
        [kept] = ipucloud.json("ssh-keys", "list", **second.environment)
        assert kept["name"] == "laptop"
        second.stop(signal.SIGTERM)
    assert ipucloud.left() == []


def test_nothing_outlives_a_killed_supervisor_and_the_next_one_starts(ipucloud: Ipucloud, data: Path) -> None:
    with up(ipucloud, data) as killed:
        assert len(ipucloud.left()) > 4
        killed.process.kill()
        killed.process.wait()
        eventually(lambda: ipucloud.left() == [], "everything ends with its supervisor")
    with up(ipucloud, data) as second:
        assert ipucloud.json("whoami", **second.environment)["role"] == "owner"
        second.stop()


@pytest.mark.parametrize("program", ["worker", "api"])
def test_a_program_that_dies_is_started_again_and_that_is_said(ipucloud: Ipucloud, data: Path, program: str) -> None:
    with up(ipucloud, data) as system:
        [pid] = ipucloud.pids("ipucloud.cli.main", program)
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: ipucloud.pids("ipucloud.cli.main", program) not in ([], [pid]), f"{program} starts again")
        assert ipucloud.json("whoami", **system.environment)["role"] == "owner"
        assert f"{program} ended (signal 9)" in system.stop()


def test_a_second_supervisor_is_told_to_go_elsewhere(ipucloud: Ipucloud, data: Path) -> None:
    with up(ipucloud, data) as first:
        with ipucloud.start("up", IPUCLOUD_DATA_DIR=str(data)) as second:
            _, err = second.communicate(timeout=60)
        assert second.returncode == 1
        assert "Traceback" not in err
        assert err.startswith("ipucloud: ")
        assert ipucloud.json("whoami", **first.environment)["role"] == "owner"
        first.stop()


def test_secrets_are_this_users_alone(ipucloud: Ipucloud, data: Path) -> None:
    with up(ipucloud, data) as system:
        for name in ("token", "site-token"):
            assert (data / name).stat().st_mode & 0o077 == 0
        secret = (data / "site-token").read_text().strip()
        for pid in ipucloud.pids():
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
            assert secret not in arguments
            assert system.facts["token"] not in arguments
        system.stop()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"
