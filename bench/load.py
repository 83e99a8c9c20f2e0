"""Sending load from a process of its own, and seeing that it was not the client that was slow."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bench.child import Child
from bench.stage import Stage

CONNECTIONS = 8
BUSY = 0.7
"""A client that computes for more of the time than this measures itself. A turn that is too short to measure may."""


class Load:
    """The load process.

    `busiest`: the largest part of a measurement that the client was computing. `p99`: of the last one, the seconds in
    which 99 of 100 requests were answered.
    """

    def __init__(self, process: Child, *, measures: bool) -> None:
        self._process = process
        self._measures = measures
        self.busiest = 0.0
        self.p99 = 0.0

    def for_seconds(
        self,
        seconds: float,
        port: int,
        requests: Sequence[str],
        *,
        expect: int | None = 200,
        connections: int = CONNECTIONS,
        pause: float = 0.0,
    ) -> float:
        """Answers per second while the requests are sent in turns, by each connection after a pause in seconds.

        `expect` None: whatever the answers are.
        """
        return self._order(port, requests, seconds=seconds, expect=expect, connections=connections, pause=pause)

    def each_once(self, port: int, requests: Sequence[str], *, expect: int) -> float:
        """Answers per second while each request is sent once."""
        return self._order(port, requests, seconds=None, expect=expect, connections=CONNECTIONS, pause=0.0)

    def _order(self, port: int, requests: Sequence[str], **how: float | None) -> float:
        order = {"port": port, "requests": requests, **how}
        self._process.say(json.dumps(order))
        answer = json.loads(self._process.line())
        if answer["wrong"] is not None:
            raise self._process.failure(f"got {answer['wrong']}")
        self.busiest = max(self.busiest, answer["busy"])
        if self._measures and answer["busy"] > BUSY:
            raise self._process.failure(f"was busy for {answer['busy']:.0%} of the time: the client is the bottleneck")
        self.p99 = answer["p99"]
        rate: float = answer["rate"]
        return rate


@contextmanager
def open_load(stage: Stage) -> Iterator[Load]:
    with Child.python("-m", "bench.processes.load", log=stage.folder / "load.log") as process:
        yield Load(process, measures=not stage.smallest)
