"""What every proof may ask for: how far to go, and a place for the figures it finds."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

FIGURES = "figures"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Known when pytest is started for this folder; the whole suite runs the short versions."""
    parser.addoption("--full", action="store_true", help="go as far as the goals of reliability ask")


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """True when the goal's own numbers are to be reached."""
    return bool(request.config.getoption("--full", default=False))


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Keep what was counted or measured; the run tells it at its end."""

    def keep(**values: object) -> None:
        request.node.user_properties.append((FIGURES, json.dumps(values, default=str)))

    return keep


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not terminalreporter.config.getoption("--full", default=False):
        return
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == FIGURES and report.when == "teardown":
                    terminalreporter.write_line(f"{report.nodeid}: {value}")
