"""What happens between two steps of a worker: to the worker, to the hardware that is used, and to the controller."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.sim.coverage import Coverage, CoverageKind, boundary
from tests.sim.faults import Trouble
from tests.sim.losses import Controller, Leftovers
from tests.sim.moments import Moments
from tests.sim.scheduler import Scheduler
from tests.sim.swarm import Weather
from tests.sim.truth import Truth
from tests.sim.workers import Worker


@dataclass
class Disruptions:
    """Those of one history. `kills` and `freezes`: how many there were."""

    weather: Weather
    scheduler: Scheduler
    draw: random.Random
    coverage: Coverage
    lease_seconds: float
    moments: Moments
    truth: Truth
    leftovers: Leftovers
    controller: Controller
    kills: int = 0
    freezes: int = 0

    async def after_a_step(self, worker: Worker) -> None:
        """Draw what happens now, if anything."""
        weather = self.weather
        if weather.observed and self.draw.random() < weather.strike_rate:
            self._happened(Trouble.STRUCK, self.truth.strike())
            self.moments.look(self.scheduler.now)
        if self.draw.random() < weather.leftover_rate:
            self._happened(Trouble.LEFTOVER, self.leftovers.appear())
        if self.draw.random() < weather.partition_rate:
            self._happened(Trouble.PARTITION_FAILED, self.controller.fail_partition())
        if self.draw.random() < weather.distrust_rate:
            self._happened(Trouble.DISTRUSTED, self.controller.is_distrusted())
        if self.draw.random() < weather.forget_rate:
            self._happened(Trouble.FORGOT, self.controller.forget())
        await self._of_worker(worker)

    async def _of_worker(self, worker: Worker) -> None:
        weather, fate = self.weather, self.draw.random()
        if fate < weather.kill_rate:
            self.kills += 1
            self._strike(worker, Trouble.KILLED, CoverageKind.KILLED)
            await worker.kill()
        elif fate < weather.kill_rate + weather.freeze_rate:
            self.freezes += 1
            self._strike(worker, Trouble.FROZEN, CoverageKind.FROZEN)
            worker.freeze(self.draw.uniform(self.lease_seconds, 6 * self.lease_seconds))
        elif fate < weather.kill_rate + weather.freeze_rate + weather.presence_loss_rate:
            self._strike(worker, Trouble.PRESENCE_LOST)
            worker.presence.lose()
        elif self.draw.random() < weather.drain_rate:
            self._strike(worker, Trouble.DRAINED)
            await worker.drain()

    def _happened(self, trouble: Trouble, what: str | None) -> None:
        if what is not None:
            self.coverage[CoverageKind.FAULT, trouble] += 1
            self.scheduler.trace.add(self.scheduler.now, "hardware", what)

    def _strike(self, worker: Worker, trouble: Trouble, kind: CoverageKind | None = None) -> None:
        """Count a disruption, and every boundary at which the worker stands when it comes."""
        self.coverage[CoverageKind.FAULT, trouble] += 1
        if kind is not None:
            for parked in worker.actor.parked:
                self.coverage[kind, boundary(parked.what)] += 1
