from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import Ipucloud, ipucloud_processes


@pytest.fixture
def ipucloud(tmp_path: Path) -> Iterator[Ipucloud]:
    """Starts `ipucloud` commands as real processes, and knows every process that came of them."""
    with ipucloud_processes(tmp_path) as started:
        yield started
