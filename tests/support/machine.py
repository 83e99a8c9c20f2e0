"""What tests ask of the machine beside Python and its packages. It is asked for here only.

A test that wants what the machine lacks is skipped at once, and the run says at its end how many tests wanted what:
`needs` marks a test, `need` and `program` are for fixtures and the middle of a test.
`tests/unit/test_machine.py` refuses other ways.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from ipucloud.laboratory.simulator.settings import WallChoice

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / ".tools" / "panel"
"""What `./dev test` brings from the npm registry for the panel and its tests, and the Node.js that it found."""
if (TOOLS / "node").exists():
    os.environ.setdefault("PLAYWRIGHT_NODEJS_PATH", str(TOOLS / "node"))
PACKED_BROWSER = TOOLS / "node_modules" / "@sparticuz" / "chromium" / "bin"
FOCUS_PYTHON = ROOT / ".tools" / "focus" / "bin" / "python"
PANEL = ROOT / "src" / "ipucloud" / "panel" / "static"
_WANTS = "wants "


class Need(StrEnum):
    """What a machine may lack, and how it is brought."""

    BASH = "bash: apt install bash"
    BROWSER = "a browser: an npm registry, or apt install chromium"
    CONTROL_GROUPS = "control groups that may be made: a machine, or a container, that permits them"
    CURL = "curl and jq: apt install curl jq"
    ENGINE = "a container engine with Compose: apt install docker.io docker-compose"
    FOCUS = "FOCUS's validator: ./dev focus, with Python 3.12 or 3.13"
    GIT = "git: apt install git"
    LANDLOCK = "Landlock: Linux 6.12 or later"
    LINUX = "Linux"
    NPM = "the panel's tools: an npm registry"
    OPENSSH = "OpenSSH: apt install openssh-client"
    PANEL = "the control panel: an npm registry"
    PLACEMENT = "openstack-placement: ./dev bench --setup"
    PROCPS = "ps and pgrep: apt install procps"
    PROMTOOL = "promtool: apt install prometheus"
    PUBLIC_PYTHON = "a Python that every user may run with these packages: a checkout outside of private directories"
    REGISTRY = "an image that no registry gives: docker pull"
    ROOT = "root"
    RSYNC = "rsync: apt install rsync"
    SANDBOX = "user namespaces: a machine, or a container, that permits them"
    WALL = "a wall around programs: user namespaces, or Linux 6.12 or later"


PROGRAMS: Mapping[str, Need] = MappingProxyType(
    {
        "bash": Need.BASH,
        "curl": Need.CURL,
        "docker": Need.ENGINE,
        "git": Need.GIT,
        "jq": Need.CURL,
        "pgrep": Need.PROCPS,
        "promtool": Need.PROMTOOL,
        "rsync": Need.RSYNC,
        **dict.fromkeys(("scp", "sftp", "ssh", "ssh-add", "ssh-agent", "ssh-keygen"), Need.OPENSSH),
    }
)


WALLS: Mapping[str, Need] = MappingProxyType({"namespaces": Need.SANDBOX, "landlock": Need.LANDLOCK})
"""The walls around programs of servers, each with what it needs."""


def needs(*needed: Need) -> pytest.MarkDecorator:
    """Mark what cannot be tried without these."""
    return pytest.mark.needs(*needed)


def need(*needed: Need) -> None:
    """Skip the test where the machine lacks one of these."""
    for each in needed:
        if not has(each):
            lack(each)


def lack(needed: Need) -> NoReturn:
    """Skip the test, which has seen by itself that the machine lacks this."""
    pytest.skip(f"{_WANTS}{needed}")


def program(name: str) -> str:
    """The program of this name; the test is skipped where there is none."""
    path = find_program(name)
    return path if path is not None else lack(PROGRAMS[name])


def find_program(name: str) -> str | None:
    """The program of this name, for what goes on without it."""
    return shutil.which(name)


@cache
def has(needed: Need) -> bool:
    """Whether the machine has it."""
    if (probe := _PROBES.get(needed)) is not None:
        return probe()
    return all(find_program(name) is not None for name, of in PROGRAMS.items() if of is needed)


def _browses() -> bool:
    """Whether there is a browser, and a Node.js that runs: Playwright's own wants libatomic."""
    from playwright._impl._driver import compute_driver_executable  # for those tests only

    if not PACKED_BROWSER.is_dir() and find_program("chromium") is None:
        return False
    node, _ = compute_driver_executable()
    return subprocess.run([node, "--version"], capture_output=True, check=False, timeout=60).returncode == 0


def _confines(wall: WallChoice) -> bool:
    from ipucloud.laboratory.simulator.sandbox.sandbox import SandboxProblem  # for those tests only
    from ipucloud.laboratory.simulator.ssh.confinement import Confinement

    with ThreadPoolExecutor(1) as outside_of_any_loop:
        try:
            return outside_of_any_loop.submit(asyncio.run, Confinement(wall).wall()).result() != "none"
        except SandboxProblem:
            return False


def _runs_containers() -> bool:
    """Whether an engine answers, and Compose is there as its plugin or as a program of its own."""
    docker = find_program("docker")
    if docker is None:
        return False
    compose = [docker, "compose"] if (alone := find_program("docker-compose")) is None else [alone]
    commands = ([docker, "version"], [*compose, "version"])
    return all(subprocess.run(each, capture_output=True, check=False, timeout=60).returncode == 0 for each in commands)


def _has_placement() -> bool:
    from bench.peers.placement import installed  # for benchmarks only

    return installed()


_PROBES: Mapping[Need, Callable[[], bool]] = MappingProxyType(
    {
        Need.BROWSER: _browses,
        Need.ENGINE: _runs_containers,
        Need.FOCUS: FOCUS_PYTHON.exists,
        Need.LANDLOCK: lambda: _confines("landlock"),
        Need.LINUX: lambda: sys.platform == "linux",
        Need.NPM: (TOOLS / "node_modules" / "vitest").is_dir,
        Need.PANEL: (PANEL / "index.html").is_file,
        Need.PLACEMENT: _has_placement,
        Need.ROOT: lambda: os.geteuid() == 0,
        Need.SANDBOX: lambda: _confines("namespaces"),
        Need.WALL: lambda: has(Need.SANDBOX) or has(Need.LANDLOCK),
    }
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*needs): skipped where the machine lacks one of these")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        need(*mark.args)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = (report.longrepr[2] for report in terminalreporter.stats.get("skipped", ()))
    missing = Counter(reason.partition(_WANTS)[2] for reason in reasons if _WANTS in reason)
    for each, tests in missing.most_common():
        tests_want = "1 test wants" if tests == 1 else f"{tests} tests want"
        terminalreporter.write_line(f"not tried here: {tests_want} {each}")
