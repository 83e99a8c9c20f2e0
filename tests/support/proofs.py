"""Proofs have two lengths: a short way with the whole suite, to the goals' own numbers with `--full`.

Of many tests of one kind the whole suite runs a quarter, and with each change of the code another one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from zlib import crc32

import pytest

from tests.support.present_code import number_of_the_code

FIGURES = "figures"
TURNS = 4


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="go as far as the goals of reliability ask")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: a test that runs with --full only")
    config.addinivalue_line("markers", "takes_turns: of these the whole suite runs one of four, named files run all")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        for item in items:
            item.add_marker(pytest.mark.timeout(0))
        return
    left = {item for item in items if item.get_closest_marker("full") is not None}
    turn = _turn(config)
    if turn is not None:
        left |= {
            item
            for item in items
            if item.get_closest_marker("takes_turns") is not None and not has_turn(item.nodeid, turn)
        }
    config.hook.pytest_deselected(items=list(left))
    items[:] = [item for item in items if item not in left]


def has_turn(name: str, turn: int) -> bool:
    """Whether it is of the quarter that runs."""
    return (crc32(name.encode()) + turn) % TURNS == 0


def _turn(config: pytest.Config) -> int | None:
    """Which quarter runs; None: all do, because files are named."""
    whole = config.args == config.getini("testpaths")  # as the processes that share the whole suite are told
    return number_of_the_code() % TURNS if whole else None


@pytest.fixture
def turn(request: pytest.FixtureRequest) -> int | None:
    """Which quarter runs, for a test that is many in itself; None: all do."""
    return _turn(request.config)


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
