"""PostgreSQL servers that a test restarts, kills, copies and promotes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from ipucloud.db.migrate import upgrade
from ipucloud.db.tenancy import APP_ROLE, OWNER_ROLE
from ipucloud.laboratory.postgres import DATABASE, SUPERUSER, EmbeddedPostgres
from ipucloud.laboratory.postgres.account import account_for
from ipucloud.laboratory.postgres.binaries import find_binaries, runnable_by
from ipucloud.laboratory.postgres.passwords import Passwords
from ipucloud.laboratory.postgres.sockets import PORT, make_private, socket_directory, socket_url
from tests.support.postgres import Database as Scratch
from tests.support.waiting import PATIENCE


class Instance:
    """One server over the data directory `root`/data, which must exist when it starts."""

    def __init__(self, root: Path, passfile: Path | None = None) -> None:
        """`passfile` has the passwords of the roles; those of `root` unless they are another server's."""
        self.root = root
        self.passfile = passfile or root / "pgpass"
        self.data = root / "data"
        self.account = account_for(self.data)
        self.binaries = runnable_by(self.account, find_binaries(None, data_major=None), root)
        self.sockets = socket_directory(root, self.account)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def socket(self) -> Path:
        return self.sockets / f".s.PGSQL.{PORT}"

    def url(self, role: str = APP_ROLE, database: str = DATABASE) -> str:
        return socket_url(self.sockets, role, database, self.passfile)

    def start(self, **parameters: str) -> None:
        """Return once it takes connections."""
        make_private(self.sockets, self.account)
        options = {
            "listen_addresses": "",
            "port": str(PORT),
            "unix_socket_directories": str(self.sockets),
            "timezone": "UTC",
            "max_connections": "100",
            "jit": "off",
        } | parameters
        with (self.root / "instance.log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.binaries.postgres, "-D", self.data, *(f"--{name}={value}" for name, value in options.items())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.data,
                user=self.account.uid,
                group=self.account.gid,
                extra_groups=None if self.account.uid is None else [],
                start_new_session=True,
            )
        self._await_ready()

    def end(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """SIGQUIT: at once, as after a crash (`-m immediate`). SIGKILL: the server's chief alone."""
        if self._process is None:
            return
        self._process.send_signal(how)
        self._process.wait(PATIENCE)
        self._process = None

    def restart(self) -> None:
        """As `pg_ctl restart -m immediate`."""
        self.end()
        self.start()

    def copy_to(self, root: Path) -> Instance:
        """A standby of this server, made while it runs; not started yet."""
        root.mkdir(mode=0o711)
        command: list[str | Path] = [
            self.binaries.directory / "pg_basebackup",
            "-D",
            root / "data",
            "-R",
            "-c",
            "fast",
            "-X",
            "stream",
        ]
        command += ["-h", self.sockets, "-p", str(PORT), "-U", SUPERUSER]
        # As a variable it is written into the copy's settings: the account of the server may not read the file.
        password = {"PGPASSWORD": Passwords(self.passfile).of(SUPERUSER)}
        subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE, env={**os.environ, **password})
        for path in (root / "data", *(root / "data").rglob("*")):
            self.account.hand_over(path)
        return Instance(root, self.passfile)

    def execute(self, statement: str) -> object:
        """The first value that the superuser's statement gives."""
        with psycopg.connect(self.url(SUPERUSER, "postgres"), autocommit=True, connect_timeout=30) as connection:
            cursor = connection.execute(statement.encode())
            row = cursor.fetchone() if cursor.description else None
            return None if row is None else row[0]

    def _await_ready(self) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            assert self._process is not None
            assert self._process.poll() is None, (self.root / "instance.log").read_text()[-2000:]
            with suppress(psycopg.OperationalError):
                self.execute("SELECT 1")
                return
            time.sleep(0.01)
        raise AssertionError("the server does not take connections")


def scratch(url: str) -> Scratch:
    """An instance's database, as tests know databases; every role reaches it by `url`."""
    return Scratch(DATABASE, url, url, url)


@contextmanager
def migrated_instance(root: Path) -> Iterator[Instance]:
    """A running server with the schema in its database."""
    with EmbeddedPostgres(root) as embedded:
        upgrade(embedded.url(OWNER_ROLE, DATABASE))
    instance = Instance(root)
    instance.start()
    try:
        yield instance
    finally:
        instance.end()
