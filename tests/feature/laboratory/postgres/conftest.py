"""Data directories for the tests of the embedded server."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ipucloud.laboratory.postgres import EmbeddedPostgres
from tests.support.embedded import execute
from tests.support.run import fast_storage


@pytest.fixture
def directory() -> Iterator[Path]:
    """A directory that every account may search, unlike pytest's own."""
    path = Path(tempfile.mkdtemp(prefix="ipucloud-test-", dir=fast_storage()))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="session")
def filled_root() -> Iterator[Path]:
    """A data directory that a server has filled, with one row in it."""
    path = Path(tempfile.mkdtemp(prefix="ipucloud-test-", dir=fast_storage()))
    path.chmod(0o755)
    with EmbeddedPostgres(path / "db") as server:
        execute(server, "CREATE TABLE kept (value int)", "INSERT INTO kept VALUES (1)")
    yield path / "db"
    shutil.rmtree(path)


@pytest.fixture
def root(directory: Path, filled_root: Path) -> Path:
    """A copy of the filled data directory, owners kept."""
    subprocess.run(["cp", "-a", filled_root, directory / "db"], check=True)
    return directory / "db"
