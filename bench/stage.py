"""Where a run takes place: a PostgreSQL server of its own, with durable settings, in a folder that goes away."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from ipucloud.db.migrate import upgrade
from ipucloud.db.roles import APP_ROLE, OWNER_ROLE
from ipucloud.laboratory.postgres import SUPERUSER, EmbeddedPostgres, prepare_database
from tests.support.postgres import Database as Scratch


class Stage:
    """One run. `rounds`: how often sides take turns."""

    def __init__(self, server: EmbeddedPostgres, folder: Path, rounds: int) -> None:
        self.folder = folder
        self.rounds = rounds
        self._server = server

    @contextmanager
    def database(self, name: str) -> Iterator[Scratch]:
        """A migrated, empty database, dropped at the end whoever is still connected."""
        with self.empty_database(name) as urls:
            upgrade(urls.owner_url)
            yield urls

    @contextmanager
    def empty_database(self, name: str) -> Iterator[Scratch]:
        """A database without tables, owned by the owner role."""
        prepare_database(lambda database: self._server.url(SUPERUSER, database), name)
        try:
            yield Scratch(name, *(self._server.url(role, name) for role in (APP_ROLE, OWNER_ROLE, SUPERUSER)))
        finally:
            with psycopg.connect(self._server.superuser_url, autocommit=True) as connection:
                connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@contextmanager
def open_stage(rounds: int) -> Iterator[Stage]:
    """Start the server on the disk, as `ipucloud up` does, and leave nothing behind."""
    folder = Path(tempfile.mkdtemp(prefix="ipucloud-bench-"))
    folder.chmod(0o711)  # root's server runs under another account
    try:
        with EmbeddedPostgres(folder / "postgres") as server:
            yield Stage(server, folder, rounds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
