"""The first hour of a customer and an operator: the commands of README, as they stand there; then the next start."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.machine import Need, need
from tests.support.pages import commands, typed, user
from tests.support.processes import Ipucloud, ipucloud_processes, up

README = Path(__file__).parents[2] / "README.md"
STARTED = (
    "PostgreSQL is running.",
    "The database's schema is up to date.",
    "The simulated site is running.",
    "Hardware, prices, quotas and tokens are registered.",
    "The worker is running.",
    "The API is running.",
)


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
            first, *rest = commands(README, "Use it")
            shown = {line: typed(f"{first}\n{line}", checkout, environment) for line in rest}
            pod256 = "ipucloud clusters estimate --flavor m2000-pod256 --json"
            shown[pod256] = typed(f"{first}\n{pod256}", checkout, environment)
            hour = Hour(started, data, system.facts, system.stop(), shown)
        assert started.still_running() == []
        yield hour


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
    assert commands(README, "Try it") == ["./dev demo", "./dev up", "./dev test", "./dev test --all"]
