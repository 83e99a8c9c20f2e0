"""Customers who divide the IPUs of their cluster through the service: what requests about partitions do."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa

from ipucloud.kernel.errors import NAME_TAKEN, NOT_FOUND, OPERATION_IN_PROGRESS, STATE_CONFLICT, UNAVAILABLE, Problem
from ipucloud.operations.store import Accepted
from tests.sim.baton import Actor
from tests.sim.projects import ProjectOf
from tests.support.world import Customer

_POLLS = 30
_POLL_SECONDS = 10.0
_ANSWERS = frozenset({NAME_TAKEN, NOT_FOUND, OPERATION_IN_PROGRESS, STATE_CONFLICT, UNAVAILABLE})
_OPEN = sa.text("SELECT count(*) FROM operations WHERE cluster_id = :cluster_id AND finished_at IS NULL")

Request = Callable[[Customer], Awaitable[Accepted]]


@dataclass(frozen=True)
class Divider:
    """One customer with a cluster in use."""

    actor: Actor
    project: ProjectOf
    draw: random.Random
    poke: Callable[[], None]
    cluster: UUID

    async def divide(self, external_name: str) -> None:
        """Remove the partition the cluster came with and make smaller ones. The first is reset, some are removed."""
        await self._remove(external_name)
        for number in range(self.draw.randint(1, 2)):
            await self._make(f"part-{number}")
            if number == 0 or self.draw.random() < 0.5:
                await self._reset(f"part-{number}")
            if self.draw.random() < 0.4:
                await self._remove(f"part-{number}")

    async def _make(self, name: str) -> None:
        await self._ask(lambda who: who.create_partition(self.cluster, name), f"makes {name}")

    async def _reset(self, name: str) -> None:
        await self._ask(lambda who: who.reset_partition(self.cluster, name), f"resets {name}")

    async def _remove(self, name: str) -> None:
        await self._ask(lambda who: who.remove_partition(self.cluster, name), f"removes {name}")

    async def _ask(self, request: Request, what: str) -> None:
        """Send one request, and mostly wait until it is done."""
        self.actor.note(what)
        try:
            await request(self.project.customer(what))
        except Problem as problem:
            self._expect(problem)
        else:
            self.poke()
        if self.draw.random() < 0.8:
            await self._wait()

    async def _wait(self) -> None:
        for _ in range(_POLLS):
            await self.actor.sleep(_POLL_SECONDS, "waits for its partition")
            try:
                async with self.project.database.read() as connection:
                    if (await connection.execute(_OPEN, {"cluster_id": self.cluster})).scalar_one() == 0:
                        return
            except Problem as problem:
                self._expect(problem)

    def _expect(self, problem: Problem) -> None:
        self.actor.note(f"answered {problem.kind.code}")
        if problem.kind not in _ANSWERS:
            raise problem
