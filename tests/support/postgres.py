"""A PostgreSQL server for tests, and an empty database for every test that asks for one."""

import fcntl
import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psycopg
from psycopg import sql

from ipucloud.db.migrate import upgrade
from ipucloud.db.tenancy import APP_ROLE, OWNER_ROLE
from ipucloud.laboratory.postgres import SUPERUSER, EmbeddedPostgres, prepare_database
from tests.support.reuse import IN_USE, ReusableDatabase
from tests.support.run import fast_storage

ROOT_VARIABLE = "IPUCLOUD_TEST_POSTGRES_ROOT"
TEMPLATE = "ipucloud_template"
PREFIX = "ipucloud-tests-"


@dataclass(frozen=True)
class Database:
    """A migrated database of one test, and its libpq URLs by role."""

    name: str
    app_url: str
    owner_url: str
    superuser_url: str


_NUMBERS = count(1)
"""Of this process's databases, through whichever `TestServer` it makes them."""


class TestServer:
    """The run's server, as its starter or another process of the run sees it."""

    __test__ = False

    def __init__(self, root: Path) -> None:
        self._server = EmbeddedPostgres(root)
        self._has_template = False
        self._idle: list[tuple[Database, ReusableDatabase]] = []

    def url(self, role: str, database: str) -> str:
        return self._server.url(role, database)

    @contextmanager
    def fresh_database(self, template: str = TEMPLATE) -> Iterator[Database]:
        """Give a copy of the migrated template, or of another database, and drop it afterwards, whoever is connected.

        Nobody may be connected to the template.
        """
        self._make_template()
        name = self._create(template)
        try:
            yield self._named(name)
        finally:
            self._drop(name)

    @contextmanager
    def empty_database(self) -> Iterator[Database]:
        """Give a migrated database without a row of a test: one that an earlier test of this process has used, if it
        could be put back as it was copied. Whoever is connected at the end is disconnected.
        """
        self._make_template()
        database, reusable = self._idle.pop() if self._idle else self._reusable()
        IN_USE[database.app_url] = reusable
        can_serve_again = False
        try:
            yield database
            gc.collect(1)
            can_serve_again = reusable.reset()
        finally:
            del IN_USE[database.app_url]
            if can_serve_again:
                self._idle.append((database, reusable))
            else:
                reusable.close()
                self._drop(database.name)

    @contextmanager
    def unmigrated_database(self) -> Iterator[Database]:
        """Give one that was never migrated, and drop it afterwards."""
        name = f"test_{os.getpid()}_{next(_NUMBERS):06}"
        prepare_database(lambda database: self._server.url(SUPERUSER, database), name)
        try:
            yield self._named(name)
        finally:
            self._drop(name)

    def close(self) -> None:
        """Drop the databases that wait for another test."""
        while self._idle:
            database, reusable = self._idle.pop()
            reusable.close()
            self._drop(database.name)

    def _named(self, name: str) -> Database:
        return Database(name, *(self._server.url(role, name) for role in (APP_ROLE, OWNER_ROLE, SUPERUSER)))

    def _reusable(self) -> tuple[Database, ReusableDatabase]:
        database = self._named(self._create(TEMPLATE))
        return database, ReusableDatabase(database.app_url, database.superuser_url)

    def _create(self, template: str) -> str:
        name = f"test_{os.getpid()}_{next(_NUMBERS):06}"
        self._execute(
            "CREATE DATABASE {name} OWNER {owner} TEMPLATE {template} STRATEGY FILE_COPY",
            name=name,
            owner=OWNER_ROLE,
            template=template,
        )
        return name

    def _drop(self, name: str) -> None:
        gc.collect(1)  # closes what was cancelled while it connected: the server waits a minute for its password
        self._execute("DROP DATABASE {name} WITH (FORCE)", name=name)

    def _make_template(self) -> None:
        """Migrate the template, once per server: the first process does, the others wait for it."""
        if self._has_template:
            return
        unfinished = f"{TEMPLATE}_unfinished"
        with psycopg.connect(self._server.superuser_url, autocommit=True) as connection:
            connection.execute("SELECT pg_advisory_lock(hashtext(%s))", [TEMPLATE])
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [TEMPLATE])
            if known.fetchone() is None:
                self._execute("DROP DATABASE IF EXISTS {name} WITH (FORCE)", name=unfinished)
                prepare_database(lambda database: self._server.url(SUPERUSER, database), unfinished)
                upgrade(self._server.owner_url(unfinished))
                self._execute("ALTER DATABASE {name} RENAME TO {final}", name=unfinished, final=TEMPLATE)
        self._has_template = True

    def _execute(self, statement: str, **names: str) -> None:
        quoted = {key: sql.Identifier(name) for key, name in names.items()}
        with psycopg.connect(self._server.superuser_url, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(**quoted))


@contextmanager
def running_server() -> Iterator[Path]:
    """Run a server for this process and name its directory to the processes started meanwhile."""
    root = Path(tempfile.mkdtemp(prefix=PREFIX, dir=fast_storage()))
    root.chmod(0o711)  # root's server runs under another account
    try:
        with EmbeddedPostgres(root, durable=False):
            os.environ[ROOT_VARIABLE] = str(root)
            yield root
    finally:
        os.environ.pop(ROOT_VARIABLE, None)
        with suppress(FileNotFoundError):  # another run that begins just now removes it, too
            shutil.rmtree(root)


def remove_leftovers(storage: Path) -> None:
    """Remove what killed test runs left: directories whose server nobody supervises any more."""
    for lock in storage.glob(f"{PREFIX}*/supervisor.lock"):
        with suppress(OSError), lock.open("r+") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.parent, ignore_errors=True)
