"""A simulated process's clock and its presence in the database."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime
from typing import Any

import psycopg

from tests.sim.faults import DatabaseFault, Faults
from tests.sim.scheduler import Actor
from tests.sim.sessions import instant

_OWNER_BITS = 62
NOTICE_SECONDS = 11.0
"""How late a worker can learn that its session is gone: the product's keepalive, 5 s and three times 2 s."""


class VirtualClock:
    """Monotonic time starts anywhere, as that of a machine does."""

    def __init__(self, actor: Actor, started: float) -> None:
        self._actor = actor
        self._started = started

    def now(self) -> datetime:
        return instant(self._actor.scheduler.now)

    def monotonic(self) -> float:
        return self._started + self._actor.scheduler.now

    async def sleep(self, seconds: float) -> None:
        await self._actor.sleep(seconds)


class SimulatedPresence:
    """The owner's lock is a real one, held by the simulation's own session, so that the reaper's statement is real."""

    def __init__(self, actor: Actor, control: psycopg.Connection[Any], draw: random.Random, faults: Faults) -> None:
        self.owner = 0
        self._actor = actor
        self._control = control
        self._draw = draw
        self._faults = faults
        self._held = 0
        self._noticed_at = 0.0
        self._on_wake: Callable[[], None] | None = None

    async def open(self) -> None:
        await self._actor.boundary("present")
        if self._faults.database("present", DatabaseFault.REFUSED):
            raise psycopg.OperationalError("simulated: the server does not answer")
        self._held = self._draw.getrandbits(_OWNER_BITS)
        self._control.execute("SELECT pg_advisory_lock(%s)", (self._held,))
        self.owner = self._held

    async def listen(self, on_wake: Callable[[], None]) -> None:
        self._on_wake = on_wake
        scheduler = self._actor.scheduler
        try:
            await self._actor.park(
                "presence lost", background=True, ready=lambda: not self._held and scheduler.now >= self._noticed_at
            )
        finally:
            self._on_wake = None
        raise psycopg.OperationalError("simulated: the session is gone")

    async def close(self) -> None:
        self.release()

    def wake(self) -> None:
        if self._on_wake is not None and self._held:
            self._on_wake()

    def lose(self) -> None:
        """The session breaks: the server knows at once, the worker some seconds later."""
        if self._held:
            self._actor.note("presence lost")
            self.release()
            self._noticed_at = self._actor.scheduler.now + self._draw.uniform(0.0, NOTICE_SECONDS)

    def release(self) -> None:
        held, self._held = self._held, 0
        if held:
            self._control.execute("SELECT pg_advisory_unlock(%s)", (held,))
