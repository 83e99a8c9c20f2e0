"""The product's way to PostgreSQL, in a simulation: every transaction and statement is a boundary and may be lost."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import cast

import psycopg
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.driver import query
from ipucloud.db.engine import Database
from ipucloud.db.outages import as_sqlalchemy, reachable
from ipucloud.db.statements import Rows, Statements, Tenant
from tests.sim.faults import DatabaseFault, Faults
from tests.sim.scheduler import Actor
from tests.sim.sessions import Session, SessionPool, instant

LOCK_SECONDS = 5.0
"""The product's lock_timeout, kept in virtual time."""

Parameters = Mapping[str, object]
Committed = Callable[[Actor, Sequence[str], float], None]
"""Called after every commit: by whom, the labels of the statements, and the seconds from the first to the last."""


@cache
def label(statement: sa.TextClause) -> str:
    """What a trace calls a statement: its beginning."""
    return " ".join(statement.text.split())[:56]


@dataclass(frozen=True, slots=True)
class Timed:
    """A statement for libpq. `sets_clock`: the session must know the time; `passes_now`: it is one more parameter."""

    text: bytes
    names: tuple[str, ...]
    sets_clock: bool = False
    passes_now: bool = False


@cache
def timed(statement: sa.TextClause) -> Timed:
    """Statements that insert need `app_now()` for the defaults of columns; others save a round trip."""
    compiled = query(statement)
    if b"INSERT" in compiled.text:
        return Timed(compiled.text, compiled.names, sets_clock=True)
    if b"app_now()" not in compiled.text:
        return Timed(compiled.text, compiled.names)
    place = b"CAST($%d AS timestamptz)" % (len(compiled.names) + 1)
    return Timed(compiled.text.replace(b"app_now()", place), compiled.names, passes_now=True)


class SimulatedDatabase(Database):
    """One actor's `Database`.

    `grain`: how probable it is that others run between two statements of a transaction, or before its commit.
    """

    def __init__(
        self,
        actor: Actor,
        pool: SessionPool,
        *,
        draw: random.Random,
        faults: Faults,
        grain: float,
        committed: Committed,
    ) -> None:
        self.url = "simulated"
        self.actor = actor
        self.pool = pool
        self.committed = committed
        self._draw = draw
        self._faults = faults
        self._grain = grain

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        async with reachable():
            await self.actor.boundary("begin")
            self.may_fail("begin", DatabaseFault.REFUSED)
            transaction = _Transaction(self)
            try:
                yield cast("AsyncConnection", transaction)
                await transaction.commit()
            finally:
                transaction.close()

    @asynccontextmanager
    async def read(self, tenant: Tenant | None = None) -> AsyncIterator[Statements]:
        async with reachable():
            yield _Statements(self)

    async def close(self) -> None:
        """Nothing is open between two uses."""

    async def send(self, session: Session, statement: sa.TextClause, parameters: Parameters) -> Rows:
        """Run one statement now. Raises what SQLAlchemy would."""
        compiled, now = timed(statement), self.actor.scheduler.now
        values = [parameters[name] for name in compiled.names]
        if compiled.sets_clock:
            session.set_clock(now)
        if compiled.passes_now:
            values.append(instant(now))
        try:
            outcome = await self.pool.run(session, compiled.text, values)
        except psycopg.Error as error:
            raise as_sqlalchemy(error, connection_died=False) from error
        if len(outcome.rows) > 1 and ("RETURNING" in statement.text or "ORDER BY" not in statement.text):
            outcome.rows.sort(key=repr)  # the server promises no order; this one does not depend on earlier histories
        return Rows(outcome.columns, outcome.rows, outcome.touched)

    async def send_alone(self, statement: sa.TextClause, parameters: Parameters) -> Rows:
        session = self.take_session()
        try:
            return await self.send(session, statement, parameters)
        finally:
            self.pool.release(session)

    def take_session(self) -> Session:
        return self.pool.acquire(self._wait_for_lock)

    async def pause(self, what: str) -> None:
        """A boundary inside a transaction, in as many cases as the grain says."""
        if self._grain and self._draw.random() < self._grain:
            await self.actor.boundary(what)

    def may_fail(self, where: str, *possible: DatabaseFault) -> DatabaseFault | None:
        """Raise what a lost connection raises, if a draw says so; ANSWER_LOST is returned, for the caller to raise."""
        fault = self._faults.database(where, *possible)
        if fault is None:
            return None
        self.actor.note(f"{where}: {fault}")
        if fault is DatabaseFault.ANSWER_LOST:
            return fault
        raise lost(where)

    async def _wait_for_lock(self, goes_on: Callable[[], bool]) -> None:
        scheduler = self.actor.scheduler
        deadline = scheduler.now + LOCK_SECONDS
        self.actor.note("waits for a lock")
        await self.actor.park("lock", ready=lambda: goes_on() or scheduler.now >= deadline)


class Plain:
    """Statements of the simulation itself: nothing comes between them and nothing happens to them."""

    def __init__(self, database: SimulatedDatabase) -> None:
        self._database = database

    async def execute(self, statement: sa.TextClause, parameters: Parameters | None = None) -> Rows:
        return await self._database.send_alone(statement, parameters or {})


class _Statements:
    """Statements that each stand alone."""

    def __init__(self, database: SimulatedDatabase) -> None:
        self._database = database

    async def execute(self, statement: sa.TextClause, parameters: Parameters | None = None) -> Rows:
        database, name = self._database, label(statement)
        await database.actor.boundary(name)
        fault = database.may_fail(name, DatabaseFault.REFUSED, DatabaseFault.ANSWER_LOST)
        answer = await database.send_alone(statement, parameters or {})
        database.committed(database.actor, [name], 0.0)
        if fault:
            raise lost(name)
        return answer


class _Transaction:
    """Statements that hold together or not at all."""

    sync_connection = None
    """What metrics would listen to."""

    def __init__(self, database: SimulatedDatabase) -> None:
        self._database = database
        self._session = database.take_session()
        self._session.say("BEGIN")
        self._begun = database.actor.scheduler.now
        self._labels: list[str] = []

    async def execute(
        self, statement: sa.TextClause, parameters: Parameters | Sequence[Parameters] | None = None
    ) -> Rows:
        database, name = self._database, label(statement)
        if self._labels:
            await database.pause(name)
        self._labels.append(name)
        self._must_be_open()
        database.may_fail(name, DatabaseFault.LOST)
        if isinstance(parameters, Sequence):
            return [await database.send(self._session, statement, each) for each in parameters][-1]
        return await database.send(self._session, statement, parameters or {})

    @asynccontextmanager
    async def begin_nested(self) -> AsyncIterator[None]:
        self._session.say("SAVEPOINT nested")
        try:
            yield
        except BaseException:
            if self._session.in_transaction:
                self._session.roll_back_to("nested")
            raise
        self._session.say("RELEASE SAVEPOINT nested")

    async def commit(self) -> None:
        database = self._database
        await database.pause("commit")
        self._must_be_open()
        fault = database.may_fail("commit", DatabaseFault.LOST, DatabaseFault.ANSWER_LOST)
        try:
            await database.pool.say(self._session, "COMMIT")  # a deferred trigger may wait for a lock
        except psycopg.Error as error:
            raise as_sqlalchemy(error, connection_died=False) from error
        database.committed(database.actor, self._labels, database.actor.scheduler.now - self._begun)
        if fault:
            raise lost("commit")

    def close(self) -> None:
        self._database.pool.release(self._session)

    def _must_be_open(self) -> None:
        if not self._session.in_transaction:
            raise lost("the server ended an idle transaction")


def lost(where: str) -> sa.exc.DBAPIError:
    """What a connection raises that is gone."""
    gone = psycopg.OperationalError(f"simulated: connection lost ({where})")
    return as_sqlalchemy(gone, connection_died=True)
