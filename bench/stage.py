"""Where a run takes place: a PostgreSQL server with databases for it, and a folder that goes away."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from ipucloud.laboratory.postgres import EmbeddedPostgres
from tests.support.postgres import Database as Scratch
from tests.support.postgres import TestServer


class Stage:
    """One run. `rounds`: how often sides take turns. `smallest`: it shows that all works; figures mean nothing."""

    def __init__(self, server: TestServer, folder: Path, rounds: int, *, smallest: bool) -> None:
        self.folder = folder
        self.rounds = rounds
        self.smallest = smallest
        self._server = server

    def database(self) -> AbstractContextManager[Scratch]:
        """A migrated, empty database, dropped at the end whoever is still connected."""
        return self._server.fresh_database()

    def empty_database(self) -> AbstractContextManager[Scratch]:
        """A database without tables, owned by the owner role."""
        return self._server.unmigrated_database()


@contextmanager
def open_stage(rounds: int, *, smallest: bool = False) -> Iterator[Stage]:
    """Start a server on the disk, as `ipucloud up` does, and leave nothing behind."""
    with _folder() as folder, EmbeddedPostgres(folder / "postgres", durable=not smallest):
        yield Stage(TestServer(folder / "postgres"), folder, rounds, smallest=smallest)


@contextmanager
def smallest_stage(server: TestServer) -> Iterator[Stage]:
    """A stage for one round at the smallest size, on a server that runs already."""
    with _folder() as folder:
        yield Stage(server, folder, 1, smallest=True)


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="ipucloud-bench-"))
    folder.chmod(0o711)  # root's server runs under another account
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
