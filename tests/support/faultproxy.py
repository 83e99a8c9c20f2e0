"""A TCP line between a client and its server whose faults a test switches while it carries.

    with proxy(("127.0.0.1", 8090)) as line:
        line.down = Fault(limit=0, then=Ending.RESET)  # the request arrives, its answer is lost

It knows nothing of what it carries: gRPC, HTTP and PostgreSQL alike (an upstream may be a unix socket). It runs in a
thread of its own, so that a client which blocks, and a client on the test's own event loop, are served the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from tests.support.waiting import for_a_process

Upstream = tuple[str, int] | Path
Result = TypeVar("Result")

CHUNK = 65_536
JOIN_SECONDS = 60.0
_RESET_AT_CLOSE = struct.pack("ii", 1, 0)


class Ending(StrEnum):
    """How a line goes after its last byte: RST to both ends, an orderly close of both, or silence."""

    RESET = "reset"
    CLOSE = "close"
    HANG = "hang"


@dataclass(frozen=True)
class Fault:
    """What happens to one direction of every connection.

    `latency` holds each piece back for so many seconds, `rate` lets so many bytes through a second. `blackhole`
    swallows. After `limit` bytes of a connection, counted since the fault was set, the connection ends as `then` says.
    """

    latency: float = 0.0
    rate: float | None = None
    blackhole: bool = False
    limit: int | None = None
    then: Ending = Ending.RESET


CALM = Fault()


@dataclass
class Strike:
    """Break the connection whose client sends `pattern`: before it is passed on, or when its answer comes back.

    Meets every `every`-th of them. `fired` counts; after `times` the strike is over.
    """

    pattern: bytes
    lose: str = "answer"
    times: int = 1
    every: int = 1
    matched: int = 0
    fired: int = 0

    def __post_init__(self) -> None:
        assert self.lose in {"request", "answer"}


@dataclass
class _Link:
    """One connection: both ends, and everything the client has sent by it."""

    near: asyncio.StreamWriter
    far: asyncio.StreamWriter
    sent: bytearray = field(default_factory=bytearray)
    struck: bool = False

    async def gone(self) -> None:
        """Return once both ends are closed; a wait that is cancelled resets them."""
        try:
            for writer in (self.near, self.far):
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
        except asyncio.CancelledError:
            self.end(Ending.RESET)
            raise

    def end(self, how: Ending) -> None:
        for writer in (self.near, self.far):
            if how is Ending.RESET:
                _reset(writer)
            else:
                writer.close()


class Proxy:
    """`up` is client → server, `down` server → client; both may be replaced at any time. `refuse` resets newcomers.

    `accepted` counts connections, `up_bytes` and `down_bytes` what arrived from either side. `upstream` may be changed;
    connections that are open stay where they are.
    """

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self.refuse = False
        self.strike: Strike | None = None
        self.accepted = self.up_bytes = self.down_bytes = 0
        self.port = 0
        self._faults = {"up": (0, CALM), "down": (0, CALM)}
        self._links: list[_Link] = []
        self._ended: list[bytes] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault-proxy", daemon=True)
        self._server: asyncio.Server | None = None

    @property
    def up(self) -> Fault:
        return self._faults["up"][1]

    @up.setter
    def up(self, fault: Fault) -> None:
        self._set("up", fault)

    @property
    def down(self) -> Fault:
        return self._faults["down"][1]

    @down.setter
    def down(self, fault: Fault) -> None:
        self._set("down", fault)

    def repair(self) -> None:
        """No faults from now on; what was swallowed stays lost."""
        self.up = self.down = CALM
        self.refuse, self.strike = False, None

    def cut(self) -> None:
        """Reset every connection that is open."""
        self._call(self._cut())

    def close_listener(self) -> None:
        """Listen no more: newcomers are refused by the system. `listen` undoes it, on the same port."""
        self._call(self._close_listener())

    def listen(self) -> None:
        self._call(self._listen())

    def repeat(self) -> None:
        """Send what the newest connection's client has sent so far to the server again, by a connection of its own."""
        self._call(self._repeat())

    def start(self) -> None:
        self._thread.start()
        self.listen()

    def stop(self) -> None:
        self._call(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(JOIN_SECONDS)
        self._loop.close()

    def _set(self, direction: str, fault: Fault) -> None:
        self._faults[direction] = (self._faults[direction][0] + 1, fault)

    def _call(self, work: Coroutine[Any, Any, Result]) -> Result:
        done: Future[Result] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return done.result(JOIN_SECONDS)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close_listener(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _cut(self) -> None:
        for link in list(self._links):
            link.end(Ending.RESET)

    async def _stop(self) -> None:
        await self._close_listener()
        await self._cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # transports close one turn after they were asked to

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        if self.refuse:
            _reset(writer)
            return
        task = self._loop.create_task(self._carry(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await self._reach()
        except OSError:
            _reset(writer)
            return
        link = _Link(writer, far_writer)
        self._links.append(link)
        pumps = [
            self._loop.create_task(self._pump("up", link, reader, far_writer)),
            self._loop.create_task(self._pump("down", link, far_reader, writer)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for pump in pumps:
                pump.cancel()
            results = await asyncio.gather(*pumps, return_exceptions=True)
            # A connection that broke on one side breaks on the other; one that ended in order has been closed so.
            broken = any(isinstance(result, BaseException) for result in results)
            link.end(Ending.RESET if broken else Ending.CLOSE)
            self._links.remove(link)
            await link.gone()

    async def _reach(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self.upstream, Path):
            return await asyncio.open_unix_connection(self.upstream)
        return await asyncio.open_connection(*self.upstream)

    async def _pump(
        self, direction: str, link: _Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        passed, generation = 0, -1
        while data := await reader.read(CHUNK):
            self._count(direction, link, data)
            if direction == "up" and self._strikes(link, data):
                return
            if direction == "down" and link.struck:
                link.end(Ending.RESET)
                return
            held = self._faults[direction][1].latency
            if held:
                await for_a_process(held)
            now, fault = self._faults[direction]
            passed, generation = (passed, generation) if now == generation else (0, now)
            if fault.blackhole:
                continue
            if fault.limit is not None and passed + len(data) > fault.limit:
                await self._tear(link, writer, data[: fault.limit - passed], fault.then)
                return
            passed += len(data)
            await _write(writer, data, fault.rate)
        with contextlib.suppress(OSError):
            if writer.can_write_eof():
                writer.write_eof()

    def _count(self, direction: str, link: _Link, data: bytes) -> None:
        if direction == "up":
            self.up_bytes += len(data)
            link.sent += data
        else:
            self.down_bytes += len(data)

    def _strikes(self, link: _Link, data: bytes) -> bool:
        """True when the strike has ended the connection before `data` is passed on."""
        strike = self.strike
        if strike is None or strike.fired >= strike.times or strike.pattern not in data:
            return False
        strike.matched += 1
        if strike.matched % strike.every:
            return False
        strike.fired += 1
        if strike.lose == "answer":
            link.struck = True
            return False
        link.end(Ending.RESET)
        return True

    async def _tear(self, link: _Link, writer: asyncio.StreamWriter, rest: bytes, how: Ending) -> None:
        await _write(writer, rest, None)
        if how is Ending.HANG:
            await asyncio.Event().wait()
        link.end(how)

    async def _repeat(self) -> None:
        copy = bytes(self._links[-1].sent)
        reader, writer = await self._reach()
        writer.write(copy)
        await writer.drain()
        await reader.read(1)  # the server has begun to answer: it has seen what it was sent
        task = self._loop.create_task(_swallow(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _write(writer: asyncio.StreamWriter, data: bytes, rate: float | None) -> None:
    if rate is None:
        writer.write(data)
        await writer.drain()
        return
    for at in range(len(data)):
        writer.write(data[at : at + 1])
        await writer.drain()
        await for_a_process(1 / rate)


async def _swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await reader.read(CHUNK):
            pass
    except OSError:
        pass
    finally:
        writer.transport.abort()


def _reset(writer: asyncio.StreamWriter) -> None:
    raw = writer.get_extra_info("socket")
    if raw is not None and raw.family != socket.AF_UNIX:
        with contextlib.suppress(OSError):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_AT_CLOSE)
    writer.transport.abort()


@contextmanager
def proxy(upstream: Upstream) -> Iterator[Proxy]:
    running = Proxy(upstream)
    running.start()
    try:
        yield running
    finally:
        running.stop()
