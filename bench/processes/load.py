"""The load: a fixed number of connections, each sending its next request when the last is answered.

`python -m bench.processes.load` takes one JSON order per line and answers each with one JSON line, so that the client
never shares a process with what it measures. An order: `port`, `connections`, `requests` (as they go over the wire),
`expect` (the status of every answer; null: any), `seconds` (the requests are sent in turns for that long; null: each
once) and `pause` (seconds that each connection waits before its next request).
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from typing import Any

import httptools
import uvloop

HOST = "127.0.0.1"


@dataclass
class Tally:
    """What the connections of one order saw. `wrong` is the first answer with another status."""

    requests: Iterator[bytes]
    expect: int | None
    until: float
    pause: float
    delays: list[float] = field(default_factory=list)
    wrong: str | None = None

    def next(self) -> bytes | None:
        """The request to send now; None when it is enough: the time is over, and something was answered."""
        over = time.perf_counter() >= self.until and len(self.delays) > 0
        return None if self.wrong or over else next(self.requests, None)


class Connection(asyncio.Protocol):
    """One keep-alive connection; `ended` is set once it has nothing more to do."""

    def __init__(self, tally: Tally, ended: asyncio.Future[None]) -> None:
        self._tally = tally
        self._ended = ended
        self._parser = httptools.HttpResponseParser(self)
        self._body = b""
        self._sent = 0.0

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def connection_lost(self, error: Exception | None) -> None:
        if not self._ended.done():
            self._tally.wrong = "the server closed the connection"
            self._ended.set_result(None)

    def on_body(self, body: bytes) -> None:
        self._body = body

    def on_message_complete(self) -> None:
        self._tally.delays.append(time.perf_counter() - self._sent)
        if (status := self._parser.get_status_code()) != self._tally.expect is not None:
            self._tally.wrong = f"status {status}: {self._body[:500]!r}"
        if self._tally.pause:
            asyncio.get_running_loop().call_later(self._tally.pause, self._send)
        else:
            self._send()

    def _send(self) -> None:
        request = self._tally.next()
        if request is None:
            self._ended.set_result(None)
            self._transport.close()
            return
        self._sent = time.perf_counter()
        self._transport.write(request)


async def carry_out(order: dict[str, Any]) -> dict[str, Any]:
    loop = asyncio.get_running_loop()
    requests = [text.encode() for text in order["requests"]]
    started, busy = time.perf_counter(), time.process_time()
    endless = order["seconds"] is not None
    tally = Tally(
        requests=cycle(requests) if endless else iter(requests),
        expect=order["expect"],
        until=started + order["seconds"] if endless else float("inf"),
        pause=order["pause"],
    )
    ended = [loop.create_future() for _ in range(order["connections"])]
    for future in ended:
        await loop.create_connection(partial(Connection, tally, future), HOST, order["port"])
    await asyncio.gather(*ended)
    elapsed = time.perf_counter() - started
    return {
        "wrong": tally.wrong,
        "rate": len(tally.delays) / elapsed,
        "p50": statistics.median(tally.delays) if tally.delays else 0.0,
        "p99": sorted(tally.delays)[len(tally.delays) * 99 // 100] if tally.delays else 0.0,
        "busy": (time.process_time() - busy) / elapsed,
    }


async def main() -> None:
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await carry_out(json.loads(line))), flush=True)


if __name__ == "__main__":
    uvloop.run(main())
