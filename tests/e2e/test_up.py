"""`ipucloud up`: a system that goes down in order, comes back with its data, and never outlives its starter."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import httpx
import pytest

from tests.support.processes import Ipucloud, Up, up
from tests.support.waiting import PATIENCE, eventually


def test_nothing_outlives_a_killed_supervisor_and_the_next_one_starts_at_once(ipucloud: Ipucloud, data: Path) -> None:
    with up(ipucloud, data) as killed:
        before = set(ipucloud.pids())
        assert len(before) > 4
        killed.process.kill()
        killed.process.wait()
    with up(ipucloud, data) as second:
        eventually(lambda: not before & set(ipucloud.pids()), "everything ends with its supervisor")
        assert ipucloud.json("whoami", **second.environment)["role"] == "owner"
        second.stop()
    assert ipucloud.still_running() == []


def test_who_calls_while_the_api_starts_again_waits_and_is_answered(system: Up) -> None:
    [pid] = system.ipucloud.pids("ipucloud.cli.main", "api")
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: pid not in system.ipucloud.pids(), "the API is gone")
    assert httpx.get(f"{system.facts['url']}/livez", timeout=PATIENCE, trust_env=False).is_success


def test_a_second_supervisor_is_told_to_go_elsewhere(system: Up) -> None:
    with system.ipucloud.start("up", IPUCLOUD_DATA_DIR=str(system.data)) as second:
        _, err = second.communicate(timeout=PATIENCE)
    assert second.returncode == 1
    assert "Traceback" not in err
    assert f"started by process {system.process.pid}" in err
    assert err.startswith("ipucloud: ")
    assert system.ipucloud.json("whoami", **system.environment)["role"] == "owner"


def test_secrets_are_this_users_alone(system: Up) -> None:
    for name in ("token", "admin-token", "client/config.json", "site-token", "postgres/pgpass"):
        assert (system.data / name).stat().st_mode & 0o077 == 0
    secret = (system.data / "site-token").read_text().strip()
    for pid in system.ipucloud.pids():
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
        assert secret not in arguments
        assert system.facts["token"] not in arguments
        assert system.facts["admin_token"] not in arguments


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"
