"""Customers who divide the IPUs of their cluster through the service: what requests about partitions do."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa

from ipucloud.kernel.errors import NAME_TAKEN, NOT_FOUND, OPERATION_IN_PROGRESS, STATE_CONFLICT, UNAVAILABLE, Problem
from ipucloud.operations.store import Accepted
from tests.sim.projects import ProjectOf
from tests.sim.scheduler import Actor
from tests.support.world import Customer

_POLLS = 30
_POLL_SECONDS = 10.0
_ANSWERS = frozenset({NAME_TAKEN, NOT_FOUND, OPERATION_IN_PROGRESS, STATE_CONFLICT, UNAVAILABLE})
_OPEN = sa.text("SELECT count(*) FROM operations WHERE cluster_id = :cluster_id AND finished_at IS NULL")

Request = Callable[[Customer], Awaitable[Accepted]]


@dataclass(frozen=True)
class Divider:
    """One customer with a cluster in use. `cancelled` takes the operations whose cancellation was accepted."""

    actor: Actor
    project: ProjectOf
    draw: random.Random
    poke: Callable[[], None]
    cluster: UUID
    cancelled: list[UUID]

    async def divide(self, external_name: str) -> None:
        """Remove the partition the cluster came with and make smaller ones, often several at the same time.

        The first is reset, some are cancelled or removed.
        """
        await self._remove(external_name)
        names = [f"part-{number}" for number in range(self.draw.randint(1, 3))]
        for name in names:
            await self._make(name)
        for number, name in enumerate(names):
            if number == 0 or self.draw.random() < 0.5:
                await self._reset(name)
            if self.draw.random() < 0.4:
                await self._remove(name)

    async def _make(self, name: str) -> None:
        await self._ask(lambda who: who.create_partition(self.cluster, name), f"makes {name}")

    async def _reset(self, name: str) -> None:
        await self._ask(lambda who: who.reset_partition(self.cluster, name), f"resets {name}")

    async def _remove(self, name: str) -> None:
        await self._ask(lambda who: who.remove_partition(self.cluster, name), f"removes {name}")

    async def _ask(self, request: Request, what: str) -> None:
        """Send one request. Some cancel it again; some wait until nothing runs, others go on at once."""
        self.actor.note(what)
        try:
            accepted = await request(self.project.customer(what))
            self.poke()
            if self.draw.random() < 0.15 and await self.project.customer(what).cancel(accepted):
                self.cancelled.append(accepted.operation_id)
                self.poke()
        except Problem as problem:
            self._expect(problem)
        if self.draw.random() < 0.5:
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
