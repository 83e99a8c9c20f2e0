"""Sessions of the real PostgreSQL, of which one at a time is at work.

A statement runs to its end while everybody else stands still, so asyncio never waits for the server. Only a statement
that meets another actor's row lock cannot end: it stays with the server, its actor waits, and after every statement
of others the server gets the time to go on with it.

Statements go straight through libpq: a cursor costs several times what the statements of this product cost.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus, Format, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult
from psycopg.rows import tuple_row
from psycopg.types.json import set_json_loads

LockWait = Callable[[Callable[[], bool]], Awaitable[None]]
"""Wait until the condition holds, or for as long as a lock may be waited for."""

EPOCH = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
"""The instant of virtual time 0."""

# A lock is waited for in virtual time, and a circle of waits is found here: the server's own limits measure real time.
_OPTIONS = (
    "-c role=ipucloud_app -c timezone=UTC -c jit=off -c plan_cache_mode=force_generic_plan "
    "-c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0"
)
_PATIENCE_MS = 2


def instant(now: float) -> datetime:
    """Virtual seconds as the product and its database see them."""
    return EPOCH + timedelta(seconds=now)


class Deadlock(Exception):
    """Transactions wait for each other in a circle."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a statement gave: its columns, its rows, and how many rows it touched."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    touched: int


class Session:
    """One session of the application's role."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self.pgconn: PGconn = connection.pgconn
        self.pid = connection.info.backend_pid
        self._prepared: dict[tuple[bytes, tuple[int, ...]], bytes] = {}
        self._columns: dict[bytes, tuple[str, ...]] = {}
        self._clock: float | None = None

    @property
    def in_transaction(self) -> bool:
        return self.pgconn.transaction_status != TransactionStatus.IDLE

    def say(self, command: str) -> None:
        """Run a command that needs no lock of others."""
        _checked(self.pgconn.exec_(command.encode()))

    def set_clock(self, now: float) -> None:
        """Let `app_now()` of this session say `now`."""
        if self._clock != now:
            self.say(f"SET sim.now = '{instant(now).isoformat()}'")
            self._clock = now

    def roll_back(self) -> None:
        self.say("ROLLBACK")
        self._clock = None  # the setting ends with the transaction

    def roll_back_to(self, savepoint: str) -> None:
        self.say(f"ROLLBACK TO SAVEPOINT {savepoint}")
        self._clock = None  # the setting is again what it was before the savepoint

    def ready(self, text: bytes, values: Sequence[object]) -> tuple[bytes, Sequence[Any], Sequence[Format]]:
        """The name of the prepared statement, and its parameters as libpq takes them."""
        adapt = Transformer(self._connection)
        dumped = adapt.dump_sequence(values, [PyFormat.AUTO] * len(values))
        key = (text, tuple(adapt.types or ()))
        name = self._prepared.get(key)
        if name is None:
            name = b"s%d" % len(self._prepared)
            _checked(self.pgconn.prepare(name, text, key[1]))
            self._prepared[key] = name
        return name, dumped, adapt.formats or ()

    def read(self, name: bytes, result: PGresult) -> Outcome:
        """Raises psycopg.Error when the statement failed."""
        _checked(result)
        touched = result.command_tuples or 0
        columns = self._columns.get(name)
        if columns is None:
            columns = tuple((result.fname(index) or b"").decode() for index in range(result.nfields))
            self._columns[name] = columns
        if not columns or not result.ntuples:
            return Outcome(columns, [], touched)
        adapt = Transformer(self._connection)
        adapt.set_pgresult(result, set_loaders=True, format=Format.TEXT)
        return Outcome(columns, adapt.load_rows(0, result.ntuples, tuple), touched)


@dataclass
class SessionPool:
    """All sessions of a simulation's process: who is in a transaction, and whose statement waits for whose lock."""

    control: psycopg.Connection[Any]
    statements: int = 0
    _idle: list[Session] = field(default_factory=list)
    _busy: dict[Session, LockWait] = field(default_factory=dict)
    _blocked: dict[Session, None] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def open(cls, url: str, control: psycopg.Connection[Any], sessions: int) -> Iterator[SessionPool]:
        pool = cls(control)
        for _ in range(sessions):
            connection = psycopg.Connection.connect(url, autocommit=True, options=_OPTIONS, row_factory=tuple_row)
            set_json_loads(orjson.loads, connection)
            pool._idle.append(Session(connection))
        try:
            yield pool
        finally:
            for session in (*pool._idle, *pool._busy):
                session.pgconn.finish()

    def forget(self) -> None:
        """Let no session know which history it was used in."""
        if self._busy:
            raise AssertionError(f"{len(self._busy)} sessions are still in use after a history")
        for session in self._idle:
            session.set_clock(0.0)

    def acquire(self, wait: LockWait) -> Session:
        """A session for one statement or one transaction."""
        session = self._idle.pop()
        self._busy[session] = wait
        return session

    def release(self, session: Session) -> None:
        """End what the session was used for; a transaction still open is rolled back."""
        if session.in_transaction:
            session.roll_back()
        del self._busy[session]
        self._idle.append(session)
        self.poll_blocked()

    async def run(self, session: Session, text: bytes, values: Sequence[object]) -> Outcome:
        """Send one statement and wait for its end. Raises psycopg.Error."""
        self.statements += 1
        name, dumped, formats = session.ready(text, values)
        if not self._may_block(session):
            return session.read(name, session.pgconn.exec_prepared(name, dumped, formats, Format.TEXT))
        session.pgconn.send_query_prepared(name, dumped, formats, Format.TEXT)
        return session.read(name, await self._result(session))

    async def say(self, session: Session, command: str) -> None:
        """Run a command that may need a lock of others, such as COMMIT. Raises psycopg.Error."""
        if not self._may_block(session):
            session.say(command)
            return
        session.pgconn.send_query(command.encode())
        _checked(await self._result(session))

    async def _result(self, session: Session) -> PGresult:
        session.pgconn.flush()
        try:
            while not _answered(session):
                if self._blockers(session):
                    await self._wait_for_lock(session)
            return _last_result(session)
        finally:
            self.poll_blocked()

    def poll_blocked(self) -> None:
        """Wait until every waiting statement either has its lock and an answer, or still waits for one."""
        for session in list(self._blocked):
            while session in self._blocked:
                if _answered(session):
                    del self._blocked[session]
                elif self._blockers(session):
                    break

    def _may_block(self, session: Session) -> bool:
        """Whether anybody else may hold a lock."""
        return bool(self._blocked) or any(other is not session and other.in_transaction for other in self._busy)

    async def _wait_for_lock(self, session: Session) -> None:
        self._blocked[session] = None
        try:
            self._find_circle(session)
            await self._busy[session](lambda: session not in self._blocked)
            if session in self._blocked:  # lock_timeout ends a statement the same way
                session.pgconn.get_cancel().cancel()
                while not _answered(session):  # the server is about to end it
                    pass
        except (asyncio.CancelledError, Deadlock):
            session.pgconn.get_cancel().cancel()
            _last_result(session)
            raise
        finally:
            self._blocked.pop(session, None)

    def _blockers(self, session: Session) -> list[int]:
        row = self.control.execute("SELECT pg_blocking_pids(%s)", (session.pid,)).fetchone()
        assert row is not None
        return list(row[0])

    def _find_circle(self, session: Session) -> None:
        """Raise Deadlock when the session waits, over any number of others, for itself."""
        by_pid = {other.pid: other for other in self._blocked}
        visited: set[int] = set()
        ahead = self._blockers(session)
        while ahead:
            pid = ahead.pop()
            if pid == session.pid:
                raise Deadlock("transactions wait for each other's locks")
            if pid in by_pid and pid not in visited:
                visited.add(pid)
                ahead += self._blockers(by_pid[pid])


def _answered(session: Session) -> bool:
    """Give the server a moment; whether it has answered the statement under way."""
    session.pgconn.consume_input()
    if not session.pgconn.is_busy():
        return True
    poller = select.poll()
    poller.register(session.pgconn.socket, select.POLLIN)
    poller.poll(_PATIENCE_MS)
    session.pgconn.consume_input()
    return not session.pgconn.is_busy()


def _last_result(session: Session) -> PGresult:
    """Wait for all that the server has to say, and answer the last of it."""
    last = None
    while (result := session.pgconn.get_result()) is not None:
        last = result
    assert last is not None
    return last


def _checked(result: PGresult) -> None:
    if result.status in {ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE, ExecStatus.NONFATAL_ERROR}:
        raise psycopg.errors.error_from_result(result)
