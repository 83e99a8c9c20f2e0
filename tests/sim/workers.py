"""Worker processes of a history: started, killed, frozen and drained as an operating system would."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import count
from typing import Any

import psycopg

from ipucloud.config import Settings
from ipucloud.reconcile.engine import Engine
from ipucloud.wire.inventory import Inventory
from ipucloud.worker.main import assemble
from tests.sim.database import Committed, SimulatedDatabase
from tests.sim.faults import Faults
from tests.sim.ports import SimulatedPresence, VirtualClock
from tests.sim.scheduler import Actor, Scheduler
from tests.sim.sessions import SessionPool
from tests.sim.site.network import Network
from tests.sim.site.ports import SimulatedSites


@dataclass(frozen=True)
class Surroundings:
    """What every process of a history shares."""

    scheduler: Scheduler
    pool: SessionPool
    control: psycopg.Connection[Any]
    wires: Network
    inventory: Inventory
    settings: Settings
    faults: Faults
    draw: random.Random
    grain: float
    committed: Committed

    def database(self, actor: Actor) -> SimulatedDatabase:
        return SimulatedDatabase(
            actor, self.pool, draw=self.draw, faults=self.faults, grain=self.grain, committed=self.committed
        )


class Worker:
    """One place where a worker process runs; a process that is gone is followed by another."""

    def __init__(self, place: str, around: Surroundings, weight: int) -> None:
        self.place = place
        self._around = around
        self._weight = weight
        self._numbers = count(1)
        self.actor: Actor
        self.presence: SimulatedPresence
        self._engine: Engine

    async def start(self) -> None:
        around = self._around
        self.actor = Actor(f"{self.place}.{next(self._numbers)}", around.scheduler, self._weight)
        self.presence = SimulatedPresence(self.actor, around.control, around.draw, around.faults)
        self._engine, _ = assemble(
            around.database(self.actor),
            SimulatedSites(self.actor, around.wires, around.inventory),
            around.settings,
            VirtualClock(self.actor, around.draw.uniform(0.0, 1e6)),
            draw=around.draw,
            presence=self.presence,
        )
        around.scheduler.join(self.actor)
        self.actor.start(self._engine.run(), name=self.actor.name)
        await around.scheduler.loop.stillness()

    async def kill(self) -> None:
        await self._around.scheduler.kill(self.actor)

    async def succeed(self) -> None:
        """Start the next process where one has ended."""
        if not self.actor.tasks:
            self._around.scheduler.leave(self.actor)
            await self.start()

    def freeze(self, seconds: float) -> None:
        self.actor.note(f"frozen for {seconds:.0f} s")
        self.actor.frozen_until = self._around.scheduler.now + seconds

    async def drain(self) -> None:
        """SIGTERM."""
        self.actor.note("asked to stop")
        self._engine.stop()
        await self._around.scheduler.loop.stillness()
