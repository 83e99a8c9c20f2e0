"""Starting and stopping the embedded server."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import IO, Any, Self, cast

import psycopg

from ipucloud.db.tenancy import APP_ROLE, OWNER_ROLE
from ipucloud.laboratory.postgres import guard
from ipucloud.laboratory.postgres.account import Account, account_for
from ipucloud.laboratory.postgres.binaries import Binaries, find_binaries, runnable_by
from ipucloud.laboratory.postgres.errors import EmbeddedPostgresError
from ipucloud.laboratory.postgres.locks import LockTakenError, take_lock, wait_for_server_lock
from ipucloud.laboratory.postgres.passwords import SUPERUSER, Passwords
from ipucloud.laboratory.postgres.prepare import DATABASE, prepare_database, prepare_roles
from ipucloud.laboratory.postgres.sockets import PORT, make_private, socket_directory, socket_url

START_SECONDS = 120.0
RECOVERY_SECONDS = 900.0
"""For a start that may follow a crash: with as much write-ahead log as there can be, and a slow disk."""
STOP_SECONDS = guard.FAST_SHUTDOWN_SECONDS + guard.IMMEDIATE_SHUTDOWN_SECONDS + 10
LOG_BYTES = 10_000_000

_SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "jit": "off",
}
_NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_RULES = """\
# Written by ipucloud, and again when it was changed. Passwords: {fingerprint}
local all         all scram-sha-256
local replication all scram-sha-256
"""
_DATA_BY_WORKING_DIRECTORY = Path("/proc/self/cwd")


class EmbeddedPostgres:
    """A PostgreSQL server of our own in one directory, reached through a unix socket.

    Every connection needs a password, which only the user who starts the server can read; the directory of the
    socket admits only the server's account and root. The server ends with the process that started it, also when that
    process is killed.

    Args:
        root: the directory for data, socket, locks and log; made when missing.
        bindir: the directory of the PostgreSQL programs, when not those of the wheel.
        settings: server parameters that replace the defaults.
        durable: False gives up the data at a crash of the machine for speed; for tests only.
    """

    def __init__(
        self,
        root: Path,
        *,
        bindir: Path | None = None,
        settings: Mapping[str, str] = MappingProxyType({}),
        durable: bool = True,
    ) -> None:
        self._root = root.absolute()
        self._data = self._root / "data"
        self._pid_file = self._data / "postmaster.pid"
        self._server_lock = self._root / "server.lock"
        self._passwords = Passwords(self._root / "pgpass")
        self._bindir = bindir
        self._settings = {**_SETTINGS, **({} if durable else _NOT_DURABLE), **settings}
        self._durable = durable
        self._supervisor_lock: int | None = None
        self._guard: subprocess.Popen[str] | None = None
        os.register_at_fork(after_in_child=self._forget)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def log(self) -> Path:
        """The server's log file."""
        return self._root / "postgres.log"

    @property
    def running(self) -> bool:
        """Whether the server this object started still runs."""
        return self._guard is not None and self._guard.poll() is None

    @property
    def superuser_url(self) -> str:
        """The libpq URL of the superuser, for what no role of ours may do."""
        return self.url(SUPERUSER, "postgres")

    def owner_url(self, database: str = DATABASE) -> str:
        """Return the libpq URL of the role that owns the schema and runs migrations."""
        return self.url(OWNER_ROLE, database)

    def app_url(self, database: str = DATABASE) -> str:
        """Return the libpq URL of the role the application works under."""
        return self.url(APP_ROLE, database)

    def url(self, role: str, database: str) -> str:
        """Return the libpq URL of any role and database.

        It is the same in every process that runs as this user, so a second process can reach a running server.
        """
        return socket_url(self._sockets, role, database, self._passwords.path)

    def check(self) -> None:
        """Raise EmbeddedPostgresError if this user cannot run the server, or there are no programs for its data."""
        account_for(self._data)
        find_binaries(self._bindir, data_major=self._data_major())

    def start(self, timeout: float = START_SECONDS, *, take_over: bool = False) -> None:
        """Start the server and make the roles and the database; existing data is kept.

        Args:
            timeout: seconds until it takes connections, the recovery after a crash included.
            take_over: wait for an earlier starter to end, in place of refusing; for a caller who knows that it does.

        Raises:
            EmbeddedPostgresError: it is running already, cannot start, or was not ready within `timeout` seconds.
        """
        if self._supervisor_lock is not None:
            raise EmbeddedPostgresError(f"The database in {self._root} is already running in this process.")
        deadline = time.monotonic() + timeout
        try:
            self._launch(deadline, take_over=take_over)
            prepare_roles(self.superuser_url, self._passwords.verifier)
            prepare_database(lambda database: self.url(SUPERUSER, database))
        except (OSError, psycopg.Error) as error:
            self.stop()
            raise EmbeddedPostgresError(f"The database in {self._root} cannot be used: {error}") from error
        except BaseException:
            self.stop()
            raise

    def wait(self) -> int:
        """Wait until the server ends unexpectedly; returns its status, or the negative of a signal.

        Raises:
            EmbeddedPostgresError: it was not started.
        """
        if self._guard is None:
            raise EmbeddedPostgresError(f"The database in {self._root} does not run in this process.")
        return int(self._answer(self._guard)["status"])

    def stop(self) -> None:
        """End the server, first politely, and wait until its last process is gone. Safe to repeat.

        Raises:
            EmbeddedPostgresError: a process of the server does not end.
        """
        try:
            if self._guard is not None:
                self._end_guard(self._guard)
                self._guard = None
                deadline = time.monotonic() + STOP_SECONDS
                os.close(wait_for_server_lock(self._server_lock, self._pid_file, deadline))
        finally:
            if self._supervisor_lock is not None:
                os.close(self._supervisor_lock)
                self._supervisor_lock = None

    def _take_supervisor_lock(self, deadline: float) -> int:
        try:
            return take_lock(self._root / "supervisor.lock", deadline)
        except LockTakenError as error:
            raise EmbeddedPostgresError(
                f"The database in {self._root} is already running, started by process {error.holder}. "
                "Stop that one first, or choose another data directory."
            ) from None

    @cached_property
    def _account(self) -> Account:
        return account_for(self._data)

    @cached_property
    def _sockets(self) -> Path:
        if not self._root.is_dir():
            raise EmbeddedPostgresError(f"There is no database in {self._root} yet. Start it first.")
        return socket_directory(self._root, self._account)

    def _end_guard(self, process: subprocess.Popen[str]) -> None:
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # a guard that was killed before it read its orders
                    pipe.close()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _forget(self) -> None:
        """In a forked child: let go of what would keep the parent's server alive after the parent."""
        if self._guard is not None and self._guard.stdin is not None:
            self._guard.stdin.close()
            self._guard.returncode = 0  # it is the parent's to wait for
        if self._supervisor_lock is not None:
            os.close(self._supervisor_lock)
        self._guard = self._supervisor_lock = None

    def _launch(self, deadline: float, *, take_over: bool) -> None:
        account = self._account
        others_end = min(deadline, time.monotonic() + START_SECONDS)
        if not self._root.exists():
            self._root.mkdir(parents=True, exist_ok=True)
            if account.uid is not None:
                self._root.chmod(0o711)  # the server's account passes through to what is its own
        self._supervisor_lock = self._take_supervisor_lock(others_end if take_over else 0.0)
        binaries = runnable_by(account, find_binaries(self._bindir, data_major=self._data_major()), self._root)
        self._passwords.make()
        self._turn_log(account)
        server_lock = wait_for_server_lock(self._server_lock, self._pid_file, others_end)
        try:
            make_private(self._sockets, account)  # under the lock: a guard that ends removes the directory
            orders = self._orders(account, binaries, server_lock)
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", guard.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd="/",
                pass_fds=[server_lock],
                start_new_session=True,  # Ctrl-C is for us; the server ends when we do
            )
        finally:
            os.close(server_lock)
        self._order(self._guard, orders)
        self._await_ready(self._guard, deadline)

    def _order(self, process: subprocess.Popen[str], orders: guard.Orders) -> None:
        pipe = cast("IO[str]", process.stdin)  # stays open: it closes when this process is gone
        with suppress(BrokenPipeError):  # a killed guard, detected by the missing response
            pipe.write(json.dumps(orders) + "\n")
            pipe.flush()

    def _await_ready(self, process: subprocess.Popen[str], deadline: float) -> None:
        poll = select.poll()
        poll.register(cast("IO[str]", process.stdout), select.POLLIN)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise EmbeddedPostgresError(f"PostgreSQL was not ready in time. Its log is {self.log}.")
        answer = self._answer(process)
        if "error" in answer:
            raise EmbeddedPostgresError(
                f"PostgreSQL did not start in {self._root}. Its log is {self.log}:\n{answer['error']}"
            )

    def _answer(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        """The guard's next message, as soon as it arrives."""
        line = cast("IO[str]", process.stdout).readline()
        message: dict[str, Any] = json.loads(line) if line else {"status": process.wait(), "error": "Its guard ended."}
        return message

    def _orders(self, account: Account, binaries: Binaries, server_lock: int) -> guard.Orders:
        new_data = self._root / "data.new"
        data = self._path_for(account, self._data)
        parameters = {
            **self._settings,
            "unix_socket_directories": f'"{self._sockets}"',
            "hba_file": str(data / guard.RULES),  # also where an earlier ALTER SYSTEM names another one
        }
        options = [part for name, value in parameters.items() for part in ("-c", f"{name}={value}")]
        return {
            "initdb": None if self._data.exists() else self._initdb(binaries, self._path_for(account, new_data)),
            "single": [str(binaries.postgres), "--single", "-D", str(data), "-c", "exit_on_error=on", "postgres"],
            "statement": f"ALTER ROLE {SUPERUSER} PASSWORD '{self._passwords.verifier(SUPERUSER)}'",
            "rules": _RULES.format(fingerprint=self._passwords.fingerprint(SUPERUSER)),
            "postgres": [str(binaries.postgres), "-D", str(data), *options],
            "new_data": str(new_data),
            "data": str(self._data),
            "sockets": str(self._sockets),
            "log": str(self.log),
            "lock": server_lock,
            "uid": account.uid,
            "gid": account.gid,
        }

    def _initdb(self, binaries: Binaries, data: Path) -> list[str]:
        locale = ["--locale=C"]
        if binaries.major >= 17:
            locale += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        command = [str(binaries.initdb), "-D", str(data), "-U", SUPERUSER, "--encoding=UTF8", *locale]
        command += ["--auth-local=reject", "--auth-host=reject", "--no-instructions"]
        return command if self._durable else [*command, "--no-sync"]

    def _path_for(self, account: Account, directory: Path) -> Path:
        """Name a data directory the way its account can reach it.

        Below a directory closed to the account (root's home, say) no path leads there, but the working directory that
        the guard sets before it changes the account does.
        """
        if account.can_search(self._root) or not _DATA_BY_WORKING_DIRECTORY.exists():
            return directory
        return _DATA_BY_WORKING_DIRECTORY

    def _data_major(self) -> int | None:
        version = self._data / "PG_VERSION"
        return int(version.read_text()) if version.exists() else None

    def _turn_log(self, account: Account) -> None:
        if self.log.exists() and self.log.stat().st_size > LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        self.log.touch(mode=0o600)
        account.hand_over(self.log)
