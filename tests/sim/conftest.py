"""A stage for the histories of one test file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sim.runner import one_stage
from tests.sim.stage import Stage
from tests.support.postgres import TestServer


@pytest.fixture(scope="module")
def stage(postgres: TestServer) -> Iterator[Stage]:
    with one_stage() as opened:
        yield opened
