"""A stage for the histories of one test file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sim.runner import one_stage
from tests.sim.stage import Stage
from tests.support.postgres import TestServer


@pytest.fixture(scope="module")
def stage(postgres: TestServer) -> Iterator[Stage]:
    with one_stage() as opened:
        yield opened


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A process of a history that is killed leaves calls which had not begun; the collector finds them at any time."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
