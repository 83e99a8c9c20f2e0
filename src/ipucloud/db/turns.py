"""Whose turn it is to use one of a process's few connections: callers in rotation, each in the order of asking.

Connections are what the requests of a process share, and a caller with many requests at once would have them all: the
others would wait behind each of these. So whoever waits is served in rotation, and no caller has so many that none is
left for the next one.

Two of a caller at once keep a process busy: while the database works for one, the process works for the other. More
would share the processors with everybody else's, and transactions of one caller mostly want the same rows: a project's
quota, a token's cost limit, a cluster. They would only wait for each other in the database, until its `lock_timeout`
ends the last.

While somebody else asks as well, a caller with a line has one place, and after each turn rests as long as that turn
took. So at least half of the processors' time is left to those who ask for little, and nobody waits for them when they
do not come.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from contextvars import ContextVar

from ipucloud.db.outages import RETRY_AFTER, unavailable
from ipucloud.kernel.errors import RATE_LIMITED, Problem

CALLER: ContextVar[Hashable] = ContextVar("caller", default=None)
"""For whom this task works: a project, or who sends a request; None: for the process itself."""
AT_ONCE = 2
"""Places of one caller at the same time, and one less than there are, if there are so few."""
LATELY = 1.0
"""Seconds for which a caller who asked is expected to ask again."""
PATIENCE = 3
"""How many times longer than for others a caller waits in the line of its own requests."""


class Turns:
    """`places` that can be used at once. Who waits longer than `wait` seconds gets the `Problem` that `late` makes.

    The process itself may have all places; any other caller has at most AT_ONCE, and leaves one free. One who stands
    behind its own requests waits longer, and then gets rate_limited.
    """

    def __init__(self, places: int, wait: float, *, late: Callable[[], Problem] = unavailable) -> None:
        self._free = places
        self._most = max(1, min(AT_ONCE, places - 1))
        self._wait = wait
        self._asked: tuple[tuple[Hashable, float], ...] = ()
        self._resting: set[Hashable] = set()
        self._late = late
        self._held: Counter[Hashable] = Counter()
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """One place, for the caller that the context names."""
        caller, clock = CALLER.get(), asyncio.get_running_loop()
        self._note(caller, clock.time())
        if caller not in self._waiting and self._may_have(caller):
            self._give(caller)
        else:
            await self._in_line(caller)
        began = clock.time()
        try:
            yield
        finally:
            if caller is not None and caller in self._waiting and self._is_shared(caller):
                self._resting.add(caller)
                clock.call_later(clock.time() - began, self._rested, caller)
            self._take_back(caller)

    @property
    def waiting(self) -> int:
        """How many stand in line."""
        return sum(map(len, self._waiting.values()))

    def _note(self, caller: Hashable, now: float) -> None:
        """Remember when the last caller asked, and the last other one."""
        if caller is not None:
            others = [asked for asked in self._asked if asked[0] != caller]
            self._asked = ((caller, now), *others[:1])

    def _is_shared(self, caller: Hashable) -> bool:
        """Whether somebody else asked lately."""
        since = asyncio.get_running_loop().time() - LATELY
        return any(other != caller and at > since for other, at in self._asked)

    def _rested(self, caller: Hashable) -> None:
        self._resting.discard(caller)
        self._serve()

    def _may_have(self, caller: Hashable) -> bool:
        if not self._free or caller in self._resting:
            return False
        return caller is None or self._held[caller] < (1 if self._is_shared(caller) else self._most)

    def _give(self, caller: Hashable) -> None:
        self._free -= 1
        self._held[caller] += 1

    def _take_back(self, caller: Hashable) -> None:
        self._free += 1
        self._held[caller] -= 1
        if not self._held[caller]:
            del self._held[caller]
        self._serve()

    async def _in_line(self, caller: Hashable) -> None:
        turn = asyncio.get_running_loop().create_future()
        behind_itself = caller in self._resting or (caller is not None and self._held[caller] > 0)
        if caller not in self._waiting and self._free:
            asyncio.get_running_loop().call_later(LATELY, self._serve)  # perhaps nobody else asks any more
        self._waiting.setdefault(caller, deque()).append(turn)
        try:
            async with asyncio.timeout(self._wait * (PATIENCE if behind_itself else 1)):
                # Cancelled is only the waiting: until this task has left the line, it may still be given the place.
                await asyncio.shield(turn)
        except (TimeoutError, asyncio.CancelledError) as error:
            if turn.done():  # it came at the same moment
                self._take_back(caller)
            else:
                self._leave(caller, turn)
            if isinstance(error, TimeoutError):
                raise (_too_many() if behind_itself else self._late()) from error
            raise

    def _leave(self, caller: Hashable, turn: asyncio.Future[None]) -> None:
        line = self._waiting[caller]
        line.remove(turn)
        if not line:
            del self._waiting[caller]

    def _serve(self) -> None:
        """Give what is free to those who wait, in rotation."""
        while served := [caller for caller in [*self._waiting] if self._may_have(caller)]:
            for caller in served:
                if self._may_have(caller):  # unless the callers before it have it all
                    self._serve_next(caller)

    def _serve_next(self, caller: Hashable) -> None:
        line = self._waiting[caller]
        self._give(caller)
        line.popleft().set_result(None)
        if line:
            self._waiting.move_to_end(caller)
        else:
            del self._waiting[caller]


def _too_many() -> Problem:
    return Problem(
        RATE_LIMITED,
        "Too many requests of the project are under way at once, and this one did not get its turn. Nothing was"
        " changed. Wait for the time in Retry-After, and send fewer at once.",
        headers=RETRY_AFTER,
    )
