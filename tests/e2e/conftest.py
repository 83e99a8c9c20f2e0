from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import Ipucloud, Up, ipucloud_processes, up


@pytest.fixture
def ipucloud(tmp_path: Path) -> Iterator[Ipucloud]:
    """Starts `ipucloud` commands as real processes, and knows every process that came of them."""
    with ipucloud_processes(tmp_path) as started:
        yield started


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A running `ipucloud up` that the tests of a module share; left running, it would slow down all that follow."""
    folder = tmp_path_factory.mktemp("system")
    with ipucloud_processes(folder) as started, up(started, folder / "data") as running:
        yield running
