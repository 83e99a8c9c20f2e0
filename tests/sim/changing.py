"""Customers who change a cluster in use, and may change their mind: what requests do, and how they wait for it."""

import random
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from ipucloud.clusters.operations.waiting import AT_ONCE, MayWait
from ipucloud.kernel.errors import (
    CAPACITY_EXHAUSTED,
    NAME_TAKEN,
    NOT_FOUND,
    OPERATION_IN_PROGRESS,
    QUOTA_EXCEEDED,
    STATE_CONFLICT,
    UNAVAILABLE,
    VALIDATION_FAILED,
    Problem,
)
from ipucloud.operations.store import Accepted
from tests.sim.reserving import ProjectOf, waits_until
from tests.sim.scheduler import Actor
from tests.sim.sessions import instant
from tests.support.catalogues import OTHER_IMAGE
from tests.support.world import IMAGE, Customer

SIZES: Mapping[str, int] = {"m2000-pod4": 1, "m2000-pod8": 2, "m2000-pod16": 4}
REGRETS = 0.6
"""How probable it is that a customer cancels a resize."""
REGRETTED_AFTER = (30.0, 300.0)
"""Seconds after which he does, on average."""
_TIMES = (1, 2, 3)
_KEYS = (["laptop"], ["laptop", "ci"], ["ci"])
_TRIES = 6
_ANSWERS = frozenset({NOT_FOUND, OPERATION_IN_PROGRESS, STATE_CONFLICT, UNAVAILABLE})
_NO_ROOM = (CAPACITY_EXHAUSTED, QUOTA_EXCEEDED)
_IN_USE_OR_AT_REST = ("active", "degraded", "suspended")
_STATE = sa.text("SELECT state FROM clusters WHERE id = :cluster_id")
_OPEN = sa.text("SELECT count(*) FROM operations WHERE cluster_id = :cluster_id AND finished_at IS NULL")
_HARDWARE = sa.text(
    """
    SELECT m.name FROM allocations a JOIN machines m ON m.id = a.machine_id
     WHERE a.cluster_id = :cluster_id AND a.released_at IS NULL
     UNION ALL SELECT name FROM poplar_servers WHERE cluster_id = :cluster_id
     ORDER BY 1
    """
)

Request = Callable[[Customer], Awaitable[Accepted]]


@dataclass(frozen=True)
class Owner:
    """One customer with a cluster in use. `cancelled` takes the operations whose cancellation was accepted."""

    actor: Actor
    project: ProjectOf
    draw: random.Random
    poke: Callable[[], None]
    cluster: UUID
    cancelled: list[UUID]

    async def suspend_for_a_while(self) -> bool:
        """Suspend the cluster and mostly resume it; some change their mind. Whether it may be in use again."""
        if await self._ask(lambda who: who.suspend(self.cluster), "suspends") is None:
            return True
        if self.draw.random() < 0.8 and not await self._becomes(("suspended",)):
            return False
        if self.draw.random() < 0.3:
            return False
        operation = await self._ask(
            lambda who: who.resume(self.cluster, may_wait=self._may_wait()), "resumes", *_NO_ROOM
        )
        if operation is not None and self.draw.random() < 0.3:
            await self._regret(operation, 20.0)
        return await self._becomes(("active",))

    async def restart(self) -> None:
        """Reboot or power-cycle the cluster's servers once or a few times, and wait for that or cancel it."""
        for _ in range(self.draw.choice(_TIMES)):
            hard = self.draw.random() < 0.5
            if not await self._rewrite(partial(Customer.restart, cluster=self.cluster, hard=hard), "restarts"):
                return

    async def rebuild(self) -> None:
        """Change the keys or write the servers again, once or a few times, and wait for that or cancel it."""
        for _ in range(self.draw.choice(_TIMES)):
            if self.draw.random() < 0.4:
                await self._change_keys()
                continue
            changes: dict[str, Any] = {
                "disk": self.draw.choice(("keep", "wipe")),
                "image": self.draw.choice((IMAGE, OTHER_IMAGE)),
                "ssh_keys": self.draw.choice(_KEYS),
            }
            if not await self._rewrite(partial(Customer.rebuild, cluster=self.cluster, **changes), "rebuilds"):
                return

    async def _rewrite(self, request: Request, what: str) -> bool:
        operation = await self._ask(request, what)
        if operation is None:
            return False
        if self.draw.random() < 0.5:
            await self._regret(operation, 10.0)
        await self.actor.sleep(self.draw.expovariate(1 / 60.0), "works")
        return True

    async def _change_keys(self) -> None:
        try:
            await self.project.customer("changes keys").update(self.cluster, ssh_keys=self.draw.choice(_KEYS))
        except Problem as problem:
            self._expect(problem, VALIDATION_FAILED)
        else:
            self.poke()
        await self.actor.sleep(self.draw.expovariate(1 / 30.0), "works")

    async def resize(self) -> bool:
        """Resize it once or twice, and wait for that or cancel it. Whether it may be in use again."""
        for _ in range(self.draw.choice((1, 1, 2))):
            flavor, may_wait = self.draw.choice(sorted(SIZES)), self._may_wait()
            operation = await self._ask(
                partial(Customer.resize, cluster=self.cluster, flavor=flavor, may_wait=may_wait),
                "resizes",
                *_NO_ROOM,
            )
            if operation is None:
                return True
            if self.draw.random() < REGRETS:
                await self._regret(operation, self.draw.choice(REGRETTED_AFTER))
            if not await self._becomes(_IN_USE_OR_AT_REST):
                return False
        return True

    async def repair(self) -> bool:
        """Have other hardware taken for what has failed, or for some of it. Whether it may be in use again."""
        names = await self._some_hardware() if self.draw.random() < 0.6 else []
        accepted = await self._ask(lambda who: who.replace_hardware(self.cluster, *names), "repairs", *_NO_ROOM)
        if accepted is None:
            return True
        if self.draw.random() < 0.2:
            await self._ask(lambda who: who.replace_hardware(self.cluster), "repairs once more", *_NO_ROOM)
        return await self._becomes(_IN_USE_OR_AT_REST)

    async def _some_hardware(self) -> list[str]:
        try:
            async with self.project.database.read() as connection:
                held = (await connection.execute(_HARDWARE, {"cluster_id": self.cluster})).scalars().all()
        except Problem as problem:
            self._expect(problem)
            return []
        return self.draw.sample(held, min(len(held), self.draw.choice((1, 1, 2))))

    async def divide(self, external_name: str) -> None:
        """Remove the partition the cluster came with and make smaller ones, often several at the same time.

        The first is reset, some are cancelled or removed.
        """
        await self._remove(external_name)
        names = [f"part-{number}" for number in range(self.draw.randint(1, 3))]
        for name in names:
            make = partial(Customer.create_partition, cluster=self.cluster, name=name)
            await self._ask_once(make, f"makes {name}")
        for number, name in enumerate(names):
            if number == 0 or self.draw.random() < 0.5:
                reset = partial(Customer.reset_partition, cluster=self.cluster, ref=name)
                await self._ask_once(reset, f"resets {name}")
            if self.draw.random() < 0.4:
                await self._remove(name)

    async def _remove(self, name: str) -> None:
        await self._ask_once(lambda who: who.remove_partition(self.cluster, name), f"removes {name}")

    async def _ask_once(self, request: Request, what: str) -> None:
        """Send one request. Some cancel it again; some wait until nothing runs, others go on at once."""
        self.actor.note(what)
        try:
            accepted = await request(self.project.customer(what))
            self.poke()
            if self.draw.random() < 0.15 and await self.project.customer(what).cancel(accepted):
                self.cancelled.append(accepted.operation_id)
                self.poke()
        except Problem as problem:
            self._expect(problem, NAME_TAKEN)
        if self.draw.random() < 0.5:
            await self._poll(_OPEN, (0,), "waits for its partition", polls=30, seconds=10.0)

    def _may_wait(self) -> MayWait:
        """Where capacity runs out, most wait for it."""
        if not self.project.crowded or self.draw.random() < 0.3:
            return AT_ONCE
        return MayWait(for_capacity=True, until=waits_until(self.draw, instant(self.actor.scheduler.now)))

    async def _ask(self, request: Request, what: str, *refusals: object) -> UUID | None:
        """Send the request until it is accepted, or often enough: its operation."""
        for _ in range(_TRIES):
            try:
                accepted = await request(self.project.customer(what))
            except Problem as problem:
                self._expect(problem, VALIDATION_FAILED, *refusals)
                await self.actor.sleep(self.draw.uniform(5.0, 60.0), f"{what} again")
            else:
                self.poke()
                return accepted.operation_id
        return None

    async def _regret(self, operation: UUID, after: float) -> None:
        """Cancel it after so many seconds, on average."""
        await self.actor.sleep(self.draw.expovariate(1 / after), "has second thoughts")
        try:
            if await self.project.customer("cancels").cancel(operation):
                self.cancelled.append(operation)
                self.poke()
        except Problem as problem:
            self._expect(problem)

    async def _becomes(self, states: Collection[str]) -> bool:
        return await self._poll(
            _STATE, states, f"waits until it is {', '.join(sorted(states))}", polls=40, seconds=15.0
        )

    async def _poll(
        self, statement: sa.TextClause, values: Collection[object], what: str, *, polls: int, seconds: float
    ) -> bool:
        """Whether the statement has one of the values in time."""
        for _ in range(polls):
            await self.actor.sleep(seconds, what)
            try:
                async with self.project.database.read() as connection:
                    if (await connection.execute(statement, {"cluster_id": self.cluster})).scalar_one() in values:
                        return True
            except Problem as problem:
                self._expect(problem)
        return False

    def _expect(self, problem: Problem, *refusals: object) -> None:
        self.actor.note(f"answered {problem.kind.code}")
        if problem.kind not in _ANSWERS and problem.kind not in refusals:
            raise problem
