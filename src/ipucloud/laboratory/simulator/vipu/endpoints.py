"""The user endpoints of one controller: a listener for each allocation while it lives, at an address of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from itertools import chain
from typing import Any, Protocol

from ipucloud.laboratory.simulator.ports import PortTaken, candidates

logger = logging.getLogger(__name__)


class Listener(Protocol):
    """A gRPC server that has its port."""

    async def start(self) -> None: ...
    async def stop(self, grace: float | None) -> None: ...


Listen = Callable[[str, int], Listener]
"""Takes a port for an allocation's endpoint; raises OSError when it is not free."""


class Endpoints:
    """Opens and closes endpoints at `host`.

    `ports` are kept by allocation, so that a restart finds them again, and a controller that forgot an allocation and
    gets it again, too. `kept` waits until they are stored.
    """

    def __init__(
        self,
        host: str,
        ports: dict[str, int],
        listen: Listen,
        among: range,
        *,
        changed: Callable[[], None],
        kept: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        self.host = host
        self._ports = ports
        self._listen = listen
        self._among = among
        self._changed = changed
        self._kept = kept
        self._open: dict[str, Listener] = {}
        self._under_way: set[asyncio.Task[None]] = set()

    def port(self, allocation: str) -> int:
        """The port of an allocation's endpoint."""
        return self._ports[allocation]

    def open(self, allocation: str) -> None:
        """Take a port for an allocation: the one that it had, if that is free. Raises PortTaken when none is."""
        if allocation in self._open:
            return
        kept = self._ports.get(allocation)
        used = set(self._ports.values())
        others = (port for port in candidates(self._among) if port not in used)
        for port in chain(() if kept is None else (kept,), others):
            try:
                listener = self._listen(allocation, port)
            except OSError:
                continue
            if kept not in {None, port}:
                logger.warning("the user endpoint of allocation %s moves from port %s to %s", allocation, kept, port)
            self._open[allocation] = listener
            self._ports[allocation] = port
            self._changed()
            self._go(listener.start())
            return
        raise PortTaken(f"no port is free for the user endpoint of allocation {allocation!r}")

    def close(self, allocation: str) -> None:
        """Stop listening for an allocation that is gone for good."""
        self._ports.pop(allocation, None)
        self._changed()
        self._stop([allocation])

    def follow(self, allocations: Iterable[str]) -> None:
        """Listen for exactly these allocations. The others keep their ports: they may come back."""
        names = set(allocations)
        self._stop([name for name in self._open if name not in names])
        for name in sorted(names):
            self.open(name)

    async def settled(self) -> None:
        """Return when every endpoint that was opened answers, at a port that is kept, and no other does."""
        await asyncio.gather(self._kept(), *self._under_way)

    async def stop(self, grace: float) -> None:
        """Stop listening, and keep every port. Calls that run have so many seconds to end."""
        self._stop(list(self._open), grace)
        await self.settled()

    def _stop(self, allocations: Iterable[str], grace: float | None = None) -> None:
        for name in allocations:
            listener = self._open.pop(name, None)
            if listener is not None:
                self._go(listener.stop(grace))

    def _go(self, change: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(change)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
