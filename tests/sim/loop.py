"""An event loop without a world: it never waits, and says when there is nothing left to run.

asyncio asks its selector to wait whenever no callback is ready. Here that is the moment when every task of the
simulation stands still, and only then does the director choose who goes on. The loop's own time is the simulation's,
so time-outs of asyncio obey it too.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Mapping
from typing import Any


class StandstillError(Exception):
    """Nobody can ever run again: a bug of the simulation."""


class _Nothing(selectors.BaseSelector):
    """Knows files, as the loop wants, and never looks at them; reports each time that the loop would wait."""

    def __init__(self, idle: Callable[[], None]) -> None:
        self._keys: dict[Any, selectors.SelectorKey] = {}
        self._idle = idle

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        self._keys[fileobj] = selectors.SelectorKey(fileobj, -1, events, data)
        return self._keys[fileobj]

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._keys.pop(fileobj)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout > 0:
            self._idle()
        return []

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._keys


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose time is what `now` says, in seconds."""

    def __init__(self) -> None:
        self.now = 0.0
        self._waiting: asyncio.Future[None] | None = None
        super().__init__(_Nothing(self._still))

    def time(self) -> float:
        return self.now

    async def stillness(self) -> None:
        """Return when every other task waits for something that only the caller can bring about."""
        self._waiting = self.create_future()
        await self._waiting

    def _still(self) -> None:
        if self._waiting is None or self._waiting.done():
            raise StandstillError("every task waits, the director too")
        self._waiting.set_result(None)
