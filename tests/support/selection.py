"""Which tests run: the same at every revision.

    ./dev test                  what a change needs to be judged, in minutes
    ./dev test --all            every test
    ./dev test PATH…            every test of these files
    ./dev prove --full          proofs with the numbers of the goals of reliability

Slow are the folders and files of `SLOW`, and tests marked `slow`. Of a test marked `sample(n)`, with many cases of one
kind, the default run has the first n cases.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SLOW = frozenset(
    ROOT / "tests" / path
    for path in (
        "bench",
        "crash",
        "e2e",
        "panel",
        "proof",
        *(f"api/test_{name}.py" for name in ("connections", "event_stream", "http_connections", "http_deadlines")),
        *(f"api/test_{name}.py" for name in ("http_proxies", "mcp")),
        *(f"contract/simulator/test_{name}.py" for name in ("addresses", "large_site", "model", "restart")),
        *(f"contract/simulator/test_{name}.py" for name in ("server_snapshots", "snapshots", "vipu_outside")),
        *(f"feature/billing/exports/test_{name}.py" for name in ("delivery", "of_accounts", "operation", "periods")),
        *(f"feature/billing/test_{name}.py" for name in ("killed", "life_oracle", "proofs", "rerating", "stored")),
        "feature/invariants/test_sites.py",
        "feature/laboratory/postgres/test_killing.py",
        "process/test_services.py",
        "sim/test_saved.py",
        *(f"feature/billing/invoices/test_{name}.py" for name in ("correction_worlds", "killed_invoices")),
        *(f"worker/test_{name}.py" for name in ("addresses", "blocked", "clock_steps", "consoles", "controllers")),
        *(f"worker/test_{name}.py" for name in ("faults", "faults_over_the_api", "freezes", "jobs")),
        *(
            f"worker/test_{name}.py"
            for name in ("login", "partition_reasons", "preemption", "rebuild", "repair", "replacing")
        ),
        *(f"worker/test_{name}.py" for name in ("resize", "s3_connections", "sample", "server_snapshots", "servers")),
        *(f"worker/test_{name}.py" for name in ("service_proxy", "services", "ssh_certificates", "ssh_keys", "sweep")),
        *(f"worker/test_{name}.py" for name in ("suspend", "terminals", "user_data", "validation", "vipu_users")),
        "worker/test_volumes.py",
    )
)
"""Folders and files that are collected with `--all`, or by name."""
FIGURES = "figures"
_DEFAULT_RUN = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run every test")
    parser.addoption("--full", action="store_true", help="go as far as the goals of reliability ask")


def pytest_configure(config: pytest.Config) -> None:
    named = config.args != config.getini("testpaths")  # processes that share a run are given the same arguments
    config.stash[_DEFAULT_RUN] = not (named or config.getoption("--all") or config.getoption("--full"))
    config.addinivalue_line("markers", "full: a test that runs with --full only")
    config.addinivalue_line("markers", "slow: a test that runs with --all, or when its file is named")
    config.addinivalue_line("markers", "sample(n): the default run has the first n cases of this test")


def is_default_run(config: pytest.Config) -> bool:
    """Whether neither files are named nor everything is asked for."""
    return config.stash[_DEFAULT_RUN]


def selected_files(config: pytest.Config, folder: Path) -> list[Path]:
    """The files of tests below a folder of which the run has any."""
    left_out = SLOW if is_default_run(config) else frozenset()
    return [path for path in folder.rglob("test_*.py") if left_out.isdisjoint((path, *path.parents))]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if collection_path in SLOW and is_default_run(config) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        for item in items:
            item.add_marker(pytest.mark.timeout(0))
        return
    left_out = {item for item in items if item.get_closest_marker("full") is not None}
    if is_default_run(config):
        left_out |= {item for item in items if item.get_closest_marker("slow") is not None}
        left_out |= _beyond_samples(items)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def _beyond_samples(items: list[pytest.Item]) -> set[pytest.Item]:
    """The cases of tests marked `sample` after the first ones."""
    counts: Counter[str] = Counter()
    beyond = set()
    for item in items:
        if (mark := item.get_closest_marker("sample")) is not None:
            function = item.nodeid.partition("[")[0]
            counts[function] += 1
            if counts[function] > mark.args[0]:
                beyond.add(item)
    return beyond


@pytest.fixture
def everything(request: pytest.FixtureRequest) -> bool:
    """False in the default run, for a test that is many in itself."""
    return not is_default_run(request.config)


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """True when the goal's own numbers are to be reached."""
    return bool(request.config.getoption("--full"))


Figures = Callable[..., None]
"""Keeps what was counted or measured."""


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    """Keep what was counted or measured; the run prints it at its end."""

    def keep(**values: object) -> None:
        request.node.user_properties.append((FIGURES, json.dumps(values, default=str)))

    return keep


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not terminalreporter.config.getoption("--full"):
        return
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == FIGURES and report.when == "teardown":
                    terminalreporter.write_line(f"{report.nodeid}: {value}")
