"""Customers who suspend their cluster for a while: what requests about that do, and how they wait for it."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa

from ipucloud.clusters.operations.waiting import AT_ONCE, MayWait
from ipucloud.kernel.errors import (
    CAPACITY_EXHAUSTED,
    NOT_FOUND,
    OPERATION_IN_PROGRESS,
    QUOTA_EXCEEDED,
    STATE_CONFLICT,
    UNAVAILABLE,
    VALIDATION_FAILED,
    Problem,
)
from ipucloud.operations.store import Accepted
from tests.sim.lines import instant
from tests.sim.projects import ProjectOf
from tests.sim.reserving import waits_until
from tests.sim.scheduler import Actor
from tests.support.world import Customer

_TRIES = 6
_POLLS = 40
_POLL_SECONDS = 15.0
_ANSWERS = frozenset({NOT_FOUND, OPERATION_IN_PROGRESS, STATE_CONFLICT, UNAVAILABLE, VALIDATION_FAILED})
NO_ROOM = frozenset({CAPACITY_EXHAUSTED, QUOTA_EXCEEDED})
_STATE = sa.text("SELECT state FROM clusters WHERE id = :cluster_id")

Request = Callable[[Customer], Awaitable[Accepted]]


@dataclass(frozen=True)
class Suspender:
    """One customer with a cluster in use. `cancelled` takes the resumes whose cancellation was accepted."""

    actor: Actor
    project: ProjectOf
    draw: random.Random
    poke: Callable[[], None]
    cluster: UUID
    cancelled: list[UUID]

    async def suspend_for_a_while(self) -> bool:
        """Suspend the cluster and mostly resume it; some change their mind. Whether it may be in use again."""
        if await self.ask(lambda who: who.suspend(self.cluster), "suspends") is None:
            return True
        if self.draw.random() < 0.8 and not await self.becomes({"suspended"}):
            return False
        if self.draw.random() < 0.3:
            return False
        operation = await self.ask(lambda who: who.resume(self.cluster, may_wait=self.may_wait()), "resumes", *NO_ROOM)
        if operation is not None and self.draw.random() < 0.3:
            await self.actor.sleep(self.draw.expovariate(1 / 20.0), "has second thoughts")
            await self.cancel(operation)
        return await self.becomes({"active"})

    def may_wait(self) -> MayWait:
        """Where capacity runs out, most wait for it."""
        if not self.project.crowded or self.draw.random() < 0.3:
            return AT_ONCE
        return MayWait(for_capacity=True, until=waits_until(self.draw, instant(self.actor.scheduler.now)))

    async def ask(self, request: Request, what: str, *refusals: object) -> UUID | None:
        """Send the request until it is accepted, or often enough: its operation."""
        for _ in range(_TRIES):
            try:
                accepted = await request(self.project.customer(what))
            except Problem as problem:
                self.expect(problem, refusals)
                await self.actor.sleep(self.draw.uniform(5.0, 60.0), f"{what} again")
            else:
                self.poke()
                return accepted.operation_id
        return None

    async def cancel(self, operation: UUID) -> None:
        try:
            if await self.project.customer("cancels").cancel(operation):
                self.cancelled.append(operation)
                self.poke()
        except Problem as problem:
            self.expect(problem, ())

    async def becomes(self, states: Collection[str]) -> bool:
        for _ in range(_POLLS):
            await self.actor.sleep(_POLL_SECONDS, f"waits until it is {', '.join(sorted(states))}")
            try:
                async with self.project.database.read() as connection:
                    if (await connection.execute(_STATE, {"cluster_id": self.cluster})).scalar_one() in states:
                        return True
            except Problem as problem:
                self.expect(problem, ())
        return False

    def expect(self, problem: Problem, refusals: Collection[object]) -> None:
        self.actor.note(f"answered {problem.kind.code}")
        if problem.kind not in _ANSWERS and problem.kind not in refusals:
            raise problem
