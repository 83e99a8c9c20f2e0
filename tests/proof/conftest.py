"""A place for servers that a test restarts and kills."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.run import fast_storage


@pytest.fixture
def instance_root() -> Iterator[Path]:
    """A directory in memory, if there is enough, that a server's own account may enter."""
    folder = Path(tempfile.mkdtemp(prefix="ipucloud-proof-", dir=fast_storage()))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)
