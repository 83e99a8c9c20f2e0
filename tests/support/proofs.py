"""Proofs have two lengths: a short way with the whole suite, to the goals' own numbers with `--full`."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

FIGURES = "figures"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="go as far as the goals of reliability ask")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: a test that runs with --full only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        for item in items:
            item.add_marker(pytest.mark.timeout(0))
        return
    long = [item for item in items if item.get_closest_marker("full") is not None]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if item not in long]


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """True when the goal's own numbers are to be reached."""
    return bool(request.config.getoption("--full"))


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Callable[..., None]:
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
