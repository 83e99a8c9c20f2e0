"""The SSH connections by which an API process reaches services: one for each Poplar server, kept while it is used."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

import structlog
from prometheus_client import Gauge
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.api.logins import LoginFailed, Reached, log_in, new_key, public_text
from ipucloud.contract.poplar_servers import TerminalEnd
from ipucloud.db.engine import Database
from ipucloud.identity.access import authorize
from ipucloud.identity.roles import Permission
from ipucloud.kernel.actor import Actor, Origin
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import STATE_CONFLICT, TOO_MANY_CONNECTIONS, UNAVAILABLE, Problem
from ipucloud.programs.terminals import store
from ipucloud.programs.terminals.store import Terminal
from ipucloud.reconcile.wake import Notifier

if TYPE_CHECKING:
    import asyncssh

log = structlog.get_logger(__name__)

CHECK_SECONDS = 20.0
"""Between two checks whether a connection is still used; it is recorded then that its process is alive."""
IDLE_SECONDS = 120.0
"""A connection that nobody used for so long is closed."""
WINDOW = 262_144
"""Bytes that a program may send ahead of what the caller has read."""
_SENTENCES = {
    "not_let_in": "did not let the connection in. Try again.",
    "silent": "does not answer by SSH. Try again, or look at the cluster's health.",
    "stranger": "presents an unexpected SSH host key, and nothing was sent to it. Look at the cluster's health.",
}


class Caller(NamedTuple):
    """Whose request makes a connection: it is recorded with the login."""

    token_hash: bytes
    project: str
    permission: Permission
    request_id: str
    origin: Origin


class Place(NamedTuple):
    """A Poplar server of a cluster, and how it is reached; with another address or host key it is another place."""

    cluster_id: UUID
    server_id: UUID
    server: str
    host: str | None
    port: int | None
    host_key: str | None


@dataclass(eq=False)
class _Login:
    """`opened` gets the connection, or the `Problem` that prevents it."""

    place: Place
    opened: asyncio.Future[asyncssh.SSHClientConnection]
    used: float
    channels: int = 0
    task: asyncio.Task[None] | None = field(default=None, repr=False)


class ServiceLogins:
    """Those of one API process; private keys are nowhere else."""

    def __init__(self, database: Database, notifier: Notifier, clock: Clock, gauge: Gauge, reached: Reached) -> None:
        self._database = database
        self._notifier = notifier
        self._clock = clock
        self._gauge = gauge
        self._reached = reached
        self._logins: dict[UUID, _Login] = {}
        self._requests: Counter[UUID] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()

    @contextmanager
    def one_more(self, service: UUID, name: str, limit: int) -> Iterator[None]:
        """A request to a service. Raises `Problem` too_many_connections."""
        if self._requests[service] >= limit:
            raise Problem(
                TOO_MANY_CONNECTIONS,
                f"The service {name} answers {limit} requests at the same time, as many as are forwarded. Try again"
                " when one of them has ended.",
                headers={"Retry-After": "1"},
                extra={"limit": limit},
            )
        self._requests[service] += 1
        try:
            yield
        finally:
            self._requests[service] -= 1
            if not self._requests[service]:
                del self._requests[service]

    @asynccontextmanager
    async def channel(
        self, place: Place, port: int, caller: Caller, seconds: float
    ) -> AsyncIterator[tuple[asyncssh.SSHReader[bytes], asyncssh.SSHWriter[bytes]]]:
        """A TCP connection to 127.0.0.1:`port` of the server itself, made in `seconds` once it is logged in to.

        Raises `Problem` state_conflict or unavailable if it cannot be logged in to, asyncssh.ChannelOpenError if
        nothing listens there, TimeoutError, OSError or asyncssh.Error.
        """
        import asyncssh

        login = self._login(place, caller)
        login.channels += 1
        try:
            connection = await asyncio.shield(login.opened)
            try:
                async with asyncio.timeout(seconds):
                    reader, writer = await connection.open_connection("127.0.0.1", port, window=WINDOW)
            except asyncssh.ChannelOpenError as error:
                if not connection.is_closed():
                    raise
                raise _closed() from error
            try:
                yield reader, writer
            finally:
                writer.channel.abort()
        finally:
            login.channels -= 1
            login.used = self._clock.monotonic()

    async def close(self) -> None:
        """End all connections."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _login(self, place: Place, caller: Caller) -> _Login:
        known = self._logins.get(place.server_id)
        if known is not None and known.place == place:
            return known
        if known is not None and known.task is not None:
            known.task.cancel()
        login = _Login(place, asyncio.get_running_loop().create_future(), self._clock.monotonic())
        login.opened.add_done_callback(_looked_at)
        login.task = asyncio.create_task(self._run(login, caller), name="service-login")
        self._tasks.add(login.task)
        login.task.add_done_callback(self._tasks.discard)
        self._logins[place.server_id] = login
        return login

    async def _run(self, login: _Login, caller: Caller) -> None:
        ended_by: TerminalEnd = "service"
        recorded: Terminal | None = None
        connection: asyncssh.SSHClientConnection | None = None
        problem = _closed()
        try:
            key = new_key()
            recorded = await self._requested(login.place, caller, key)
            connection = await log_in(self._database, recorded, key, self._reached)
            self._gauge.inc()
            if await self._database.transact(lambda writing: self._connected(writing, recorded, caller)):
                self._notifier.poke()  # the key is to go
                login.opened.set_result(connection)
                ended_by = await self._kept(login, connection, recorded)
        except LoginFailed as failed:
            ended_by = "server"
            problem = Problem(UNAVAILABLE, f"The Poplar server {login.place.server} {_SENTENCES[failed.why]}")
        except Problem as refused:
            if refused.kind in {STATE_CONFLICT, UNAVAILABLE}:  # what concerns the server concerns every caller
                problem = refused
        finally:
            if self._logins.get(login.place.server_id) is login:
                del self._logins[login.place.server_id]
            if not login.opened.done():
                login.opened.set_exception(problem)
            if connection is not None:
                self._gauge.dec()
                connection.abort()
            if recorded is not None:
                await asyncio.shield(self._over(recorded, ended_by))

    async def _requested(self, place: Place, caller: Caller, key: asyncssh.SSHKey) -> Terminal:
        async def work(connection: AsyncConnection) -> Terminal:
            scope = await authorize(connection, caller.token_hash, caller.project, caller.permission, caller.origin)
            actor = Actor(scope.project_id, scope.token_id, caller.request_id)
            return await store.request(
                connection,
                actor,
                place.cluster_id,
                str(place.server_id),
                public_key=public_text(key),
                limit=0,
                purpose="services",
            )

        recorded = await self._database.transact(work)
        self._notifier.poke()
        return recorded

    @staticmethod
    async def _connected(connection: AsyncConnection, recorded: Terminal | None, caller: Caller) -> bool:
        return recorded is not None and await store.mark_connected(connection, recorded, caller.request_id)

    async def _kept(self, login: _Login, connection: asyncssh.SSHClientConnection, recorded: Terminal) -> TerminalEnd:
        """Until the server closes it, nobody uses it any more, or it counts as lost."""
        while True:
            try:
                async with asyncio.timeout(CHECK_SECONDS):
                    await connection.wait_closed()
                return "server"
            except TimeoutError:
                pass
            if not login.channels and self._clock.monotonic() - login.used >= IDLE_SECONDS:
                return "idle"
            try:
                async with self._database.begin() as writing:
                    if not await store.mark_alive(writing, recorded.id):
                        return "service"
            except Problem as problem:
                log.info("service_login_not_recorded", code=problem.kind.code)

    async def _over(self, recorded: Terminal, ended_by: TerminalEnd) -> None:
        """Record the end, so that a key that is still there is taken away; else a worker does, 90 seconds later."""

        async def work(connection: AsyncConnection) -> None:
            await store.end(connection, recorded.id, ended_by)

        try:
            await self._database.transact(work)
            self._notifier.poke()
        except (Problem, SQLAlchemyError) as error:
            log.info("service_login_not_ended", error=type(error).__name__)


def _closed() -> Problem:
    return Problem(
        UNAVAILABLE, "The connection to the Poplar server was closed. Try again.", headers={"Retry-After": "1"}
    )


def _looked_at(opened: asyncio.Future[asyncssh.SSHClientConnection]) -> None:
    """Callers that were cancelled do not look at the exception."""
    if not opened.cancelled():
        opened.exception()
