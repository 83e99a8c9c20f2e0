"""What the parts of one controller share: hardware, state, time, and the way to say that the state changed."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ipucloud.laboratory.simulator.clock import Clock
from ipucloud.laboratory.simulator.durations import Durations
from ipucloud.laboratory.simulator.vipu.links import BrokenLinks
from ipucloud.laboratory.simulator.vipu.model import State
from ipucloud.laboratory.simulator.vipu.topology import Fleet


@dataclass(frozen=True)
class Context:
    """`reachable` answers whether an agent's machine answers, `broken` which links are not up.

    `changed` marks the state for its file.
    """

    fleet: Fleet
    state: State
    clock: Clock
    durations: Durations
    reachable: Callable[[str], bool]
    broken: BrokenLinks
    changed: Callable[[], None]


class Deadlines:
    """Names by the time at which something happens to them. Entries are hints: the record's own `due` decides."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, str]] = []

    def add(self, due: float | None, name: str) -> None:
        if due is not None:
            heapq.heappush(self._heap, (due, name))

    def passed(self, clock: Clock) -> Iterator[str]:
        """The names whose time has come, each entry once, also those added meanwhile."""
        while self._heap and self._heap[0][0] <= clock.now():
            yield heapq.heappop(self._heap)[1]
