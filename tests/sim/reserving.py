"""Customers who wait for capacity, take preemptible clusters, and reserve machines; and the times scaled for them."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar
from unittest import mock
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.reservations import store
from ipucloud.config import Settings
from ipucloud.contract.capacity import ReservationCreate
from ipucloud.kernel.actor import Actor as ActingFor
from ipucloud.kernel.errors import (
    CAPACITY_EXHAUSTED,
    NOT_FOUND,
    QUOTA_EXCEEDED,
    STATE_CONFLICT,
    UNAVAILABLE,
    VALIDATION_FAILED,
    Problem,
)
from tests.sim.database import SimulatedDatabase
from tests.sim.scheduler import Actor
from tests.sim.sessions import instant
from tests.support.world import Customer
from tests.support.world.customer import REGION

MINUTE = timedelta(minutes=1)
_SHORTEST, _CANCELLED_BEFORE = 5 * MINUTE, MINUTE
_TRIES = 4
INTERVALS: Mapping[str, float] = {
    "serve_waiting_clusters": 600.0,
    "follow_preemptions": 5.0,
    "follow_reservations": 10.0,
}
"""Of the tasks that serve them. The queues are looked at so rarely that whoever makes room must wake them."""
_EXPECTED = frozenset({CAPACITY_EXHAUSTED, QUOTA_EXCEEDED, VALIDATION_FAILED, STATE_CONFLICT, NOT_FOUND, UNAVAILABLE})


Answer = TypeVar("Answer")
Request = Callable[[AsyncConnection, ActingFor], Awaitable[Answer]]


@dataclass(frozen=True)
class ProjectOf:
    """A project as the simulated database has it. It has no token: request ids tell a history's requests apart."""

    id: UUID
    database: SimulatedDatabase
    settings: Settings
    catalogue: Catalogue
    crowded: bool = False

    def customer(self, request: str) -> Customer:
        actor = ActingFor(project_id=self.id, token_id=None, request_id=request)
        return Customer(self.database, lambda: actor, self.settings, self.catalogue)


@contextmanager
def short_reservations() -> Iterator[None]:
    """Reservations of minutes instead of hours: a history lasts for less than an hour."""
    with (
        mock.patch.object(store, "SHORTEST", _SHORTEST),
        mock.patch.object(store, "CANCELLED_BEFORE", _CANCELLED_BEFORE),
    ):
        yield


def wishes(draw: random.Random, now: datetime) -> dict[str, object]:
    """What one asks for at a create where capacity runs out."""
    options: dict[str, object] = {}
    if draw.random() < 0.5:
        options["preemptible"] = True
    if draw.random() < 0.6:
        options |= {"wait_for_capacity": True, "wait_until": waits_until(draw, now)}
    return options


def waits_until(draw: random.Random, now: datetime) -> datetime:
    return now + timedelta(seconds=draw.uniform(60.0, 900.0))


@dataclass(frozen=True)
class Reserver:
    """One customer who reserves room for one or two clusters. `create` makes a cluster, with these wishes besides."""

    actor: Actor
    project: ProjectOf
    draw: random.Random
    poke: Callable[[], None]

    async def reserve(self, name: str) -> tuple[UUID, ReservationCreate] | None:
        """Its id, and what was asked for; None: refused, or nobody knows."""
        for _ in range(_TRIES):
            body = self._body(name)
            reservation = await self._ask(partial(self._reserve, body))
            if reservation is not None:
                return reservation, body
            await self.actor.sleep(self.draw.uniform(5.0, 60.0), f"reserves {name} again")
        return None

    async def _reserve(self, body: ReservationCreate, connection: AsyncConnection, who: ActingFor) -> UUID:
        project = self.project
        return await store.reserve(connection, who, body, catalogue=project.catalogue, settings=project.settings)

    async def cancel(self, reservation: UUID) -> None:
        await self._ask(lambda connection, who: store.cancel(connection, who, reservation))

    async def _ask(self, request: Request[Answer]) -> Answer | None:
        # Whoever reserves has a token; this project has none.
        who = ActingFor(project_id=self.project.id, token_id=self.project.id, request_id="reserves")
        try:
            return await self.project.database.transact(lambda connection: request(connection, who))
        except Problem as problem:
            self.actor.note(f"answered {problem.kind.code}")
            if problem.kind not in _EXPECTED:
                raise
            return None

    def _body(self, name: str) -> ReservationCreate:
        now = instant(self.actor.scheduler.now)
        starts_at = now.replace(second=0, microsecond=0) + self.draw.randint(1, 4) * MINUTE
        return ReservationCreate(
            name=name,
            region=REGION,
            flavor=self.draw.choice(("m2000-pod4", "m2000-pod8")),
            count=self.draw.choice((1, 2)),
            starts_at=starts_at,
            ends_at=starts_at + self.draw.randint(5, 10) * MINUTE,
        )
