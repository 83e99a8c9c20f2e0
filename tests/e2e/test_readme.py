"""The first hour of a customer and an operator: the commands of README, as they stand there; then the next start."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.machine import Need, need, program
from tests.support.openssh import make_key
from tests.support.processes import Ipucloud, ipucloud_processes, up

README = Path(__file__).parents[2] / "README.md"
SECONDS = 300
YES = b"y\n"
STARTED = (
    "PostgreSQL is running.",
    "The database's schema is up to date.",
    "The simulated site is running.",
    "Hardware, prices, quotas and tokens are registered.",
    "The worker is running.",
    "The API is running.",
)


def commands(title: str) -> list[str]:
    """The lines of the first block of shell commands under a title."""
    section = re.search(rf"^## {title}$.*?^```sh\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    assert section is not None, title
    return [line.partition("  #")[0].rstrip() for line in section[1].splitlines()]


@dataclass
class Hour:
    """What was there after the first start was stopped."""

    ipucloud: Ipucloud
    data: Path
    facts: dict[str, Any]
    messages: str
    shown: dict[str, str]


@pytest.fixture(scope="module")
def hour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hour]:
    """The commands of "Use it", typed in a directory with the data of an `ipucloud up` that was started just now."""
    need(Need.BASH, Need.OPENSSH)
    checkout = tmp_path_factory.mktemp("checkout")
    data = checkout / ".ipucloud"
    with ipucloud_processes(checkout) as started:
        with up(started, data, "--time-scale", "0") as system, user(checkout) as environment:
            first, *rest = commands("Use it")
            shown = {line: typed(f"{first}\n{line}", checkout, environment) for line in rest}
            pod256 = "ipucloud clusters estimate --flavor m2000-pod256 --json"
            shown[pod256] = typed(f"{first}\n{pod256}", checkout, environment)
            hour = Hour(started, data, system.facts, system.stop(), shown)
        assert started.still_running() == []
        yield hour


@contextmanager
def user(folder: Path) -> Iterator[dict[str, str]]:
    """The environment of a user with an SSH key, which OpenSSH finds in an agent: it does not go by HOME."""
    key, socket = make_key(folder), folder / "agent"
    (folder / "home" / ".ssh").mkdir(parents=True)
    (folder / "home" / ".ssh" / "id_ed25519.pub").write_text(key.public_line)
    environment = {**os.environ, "HOME": str(folder / "home"), "SSH_AUTH_SOCK": str(socket)}
    with subprocess.Popen([program("ssh-agent"), "-D", "-a", socket], stdout=subprocess.DEVNULL) as agent:
        try:
            add = ["sh", "-c", 'until ssh-add -q "$1"; do :; done', "sh", str(key.private)]
            subprocess.run(add, env=environment, check=True, capture_output=True, timeout=SECONDS)
            yield environment
        finally:
            agent.terminate()


def typed(line: str, folder: Path, environment: dict[str, str]) -> str:
    """Run a line in a terminal whose user agrees to what is asked; it must succeed."""
    controlling, terminal = pty.openpty()
    try:
        os.write(controlling, YES)
        done = subprocess.run(
            [program("bash"), "-c", line],
            cwd=folder,
            env=environment,
            stdin=terminal,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
            start_new_session=True,
        )
    finally:
        os.close(controlling)
        os.close(terminal)
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_readme_can_be_followed_literally(hour: Hour) -> None:
    assert len(re.findall("IPU-M host", hour.shown["ipucloud clusters ssh bert -- gc-info -l"])) >= 1
    assert "Next: ipucloud clusters create" in hour.shown["ipucloud doctor"]
    assert "all hold" in hour.shown["ipucloud admin audit"]


def test_a_new_system_has_room_for_a_pod256(hour: Hour) -> None:
    estimate = json.loads(hour.shown["ipucloud clusters estimate --flavor m2000-pod256 --json"])
    assert estimate["quota"]["allowed"]
    assert estimate["capacity"]["available"]


def test_each_part_is_reported_when_it_runs(hour: Hour) -> None:
    lines = [line.removeprefix("ipucloud: ") for line in hour.messages.splitlines()]
    assert tuple(line for line in lines[1:-1] if "slow to start" not in line) == STARTED


def test_url_tokens_and_data_survive_a_restart(hour: Hour) -> None:
    (hour.data / "admin-token").write_text("lost")
    with up(hour.ipucloud, hour.data) as second:
        new = {"admin_token": "", "panel": ""}
        assert second.facts | new == hour.facts | new
        profiles = {"IPUCLOUD_CONFIG_DIR": str(hour.data / "client")}
        [kept] = hour.ipucloud.json("ssh-keys", "list", **profiles)
        assert kept["name"] == "laptop"
        assert hour.ipucloud.json("whoami", "--profile", "admin", **profiles)["role"] == "admin"
        second.stop(signal.SIGTERM)
    assert hour.ipucloud.still_running() == []


def test_the_first_commands_are_those_that_other_tests_run() -> None:
    assert commands("Try it") == ["./dev demo", "./dev up", "./dev test", "./dev test --all"]
