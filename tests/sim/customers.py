"""Customers: what requests do, through the same functions as the API's routes, in the same transactions."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol
from uuid import UUID

import sqlalchemy as sa

from ipucloud.catalogue.queries import Catalogue
from ipucloud.config import Settings
from ipucloud.contract.repairs import RepairWindow
from ipucloud.contract.schedules import Weekday
from ipucloud.kernel.errors import (
    CAPACITY_EXHAUSTED,
    NAME_TAKEN,
    NOT_FOUND,
    QUOTA_EXCEEDED,
    STATE_CONFLICT,
    UNAVAILABLE,
    VALIDATION_FAILED,
    Problem,
)
from tests.sim.changing import Owner
from tests.sim.database import SimulatedDatabase
from tests.sim.reserving import ProjectOf, Reserver
from tests.sim.reserving import wishes as wishes_of
from tests.sim.scheduler import Actor
from tests.sim.sessions import instant
from tests.sim.swarm import Weather

FLAVORS = ("m2000-pod4", "m2000-pod4", "m2000-pod4", "m2000-pod8", "m2000-pod8", "m2000-pod16")
LARGE = ("m2000-pod4", "m2000-pod8", "m2000-pod8", "m2000-pod8", "m2000-pod16", "m2000-pod16")
"""Where there is no room for all: they lack machines before they lack hosts, which nobody can make free."""
_TRIES = 4
_POLL_SECONDS = 20.0
_PATIENCE = 40

_FIND = sa.text(
    """
    SELECT c.id AS cluster_id, o.id AS operation_id, c.state FROM clusters c JOIN operations o ON o.cluster_id = c.id
     WHERE c.project_id = :project_id AND c.name = :name AND o.kind = 'cluster.create'
     ORDER BY c.created_at DESC LIMIT 1
    """
)


_SHOWN = sa.text("SELECT state, external_name FROM clusters WHERE id = :cluster_id")


@dataclass(frozen=True, slots=True)
class ClusterRef:
    project_id: UUID
    cluster_id: UUID
    operation_id: UUID


@dataclass(frozen=True)
class ServiceView:
    """What customers know of the service. `refused` takes the active reservation from which nothing was to be had."""

    projects: Sequence[UUID]
    catalogue: Catalogue
    settings: Settings
    poke: Callable[[], None]
    weather: Weather
    refused: Callable[[UUID], None]


class Partitioner(Protocol):
    """What customers do at their servers, past the service."""

    def partition(self, external_name: str, actor: Actor) -> None: ...


@dataclass
class Customers:
    """Each asks for one cluster and, at some time, may want it gone.

    `cancelled`: operations whose cancellation was accepted, for certain. `served`: how many have used their clusters.
    """

    actor: Actor
    _database: SimulatedDatabase
    _service: ServiceView
    _partitioner: Partitioner
    _draw: random.Random
    cancelled: list[UUID] = field(default_factory=list)
    served: int = 0
    _requests: int = 0

    def start(self, clusters: int, horizon: float) -> None:
        """`clusters` lives, begun at random within `horizon` seconds."""
        for number in range(clusters):
            self.actor.start(self._life(f"cluster-{number}", horizon), name=f"customer-{number}")

        if self._service.weather.crowded:
            self._start_crowding(horizon)

    def _start_crowding(self, horizon: float) -> None:
        """Those who reserve; and in most histories preemptible clusters on all machines, and others that need some."""
        for number in range(self._draw.choice((1, 2, 3))):
            self.actor.start(self._reserving(f"reserved-{number}", horizon), name=f"reserver-{number}")
        if self._draw.random() < 0.7:
            for number, project in enumerate(self._service.projects):
                self.actor.start(self._giving_way(f"spot-{number}", project), name=f"spot-{number}")
                self.actor.start(self._in_need(f"urgent-{number}", horizon, project), name=f"urgent-{number}")

    async def _giving_way(self, name: str, project: UUID) -> None:
        """Half of all machines, as long as nobody needs them; some use them, and few go."""
        wishes = {"preemptible": True}
        cluster = await self._create(project, name, flavor="m2000-pod16", wishes=wishes)
        fate = self._draw.random()
        if cluster is not None and fate < 0.3:
            await self._use(cluster)
        if cluster is not None and fate < 0.1:
            await self._delete(cluster)

    async def _in_need(self, name: str, horizon: float, project: UUID) -> None:
        """Comes when the machines are taken, and waits for long; some give up."""
        await self.actor.sleep(30.0 + self._draw.uniform(0.0, min(horizon, 200.0)), f"wants {name}")
        until = instant(self.actor.scheduler.now) + timedelta(seconds=self._draw.uniform(300.0, 1500.0))
        wishes = {"wait_for_capacity": True, "wait_until": until}
        cluster = await self._create(
            project, name, flavor=self._draw.choice(("m2000-pod4", "m2000-pod8")), wishes=wishes
        )
        if cluster is not None and self._draw.random() < 0.25:
            await self.actor.sleep(self._draw.uniform(0.0, 300.0), f"has had enough of {name}")
            await (self._delete(cluster) if self._draw.random() < 0.5 else self._cancel(cluster))

    async def _reserving(self, name: str, horizon: float) -> None:
        """Reserve; cancel that, or create a cluster from it when it has begun; some never come."""
        await self.actor.sleep(self._draw.uniform(0, horizon), f"wants {name}")
        project = self._draw.choice(self._service.projects)
        reserver = Reserver(self.actor, self._project(project), self._draw, self._service.poke)
        reserved = await reserver.reserve(name)
        if reserved is None:
            return
        reservation, body = reserved
        fate = self._draw.random()
        if fate < 0.3:
            await self.actor.sleep(self._draw.uniform(0.0, 120.0), f"does not want {name} any more")
            await reserver.cancel(reservation)
        if fate < 0.4:
            return
        ahead = (body.starts_at - instant(self.actor.scheduler.now)).total_seconds()
        await self.actor.sleep(ahead + self._draw.uniform(0.0, 60.0), f"comes for {name}")
        cluster = await self._create(project, name, flavor=body.flavor, reservation=reservation)
        if cluster is not None and self._draw.random() < 0.7:
            await self._use(cluster)
        if cluster is not None and self._draw.random() < 0.5:
            await self._delete(cluster)

    async def _life(self, name: str, horizon: float) -> None:
        await self.actor.sleep(self._draw.uniform(0, horizon), f"wants {name}")
        cluster = await self._create(self._draw.choice(self._service.projects), name)
        desired_state = self._draw.choice(
            ("keep", "delete", "cancel", "use", "use", "use and delete", "use and delete")
        )
        if cluster is None or desired_state == "keep":
            return
        if desired_state in {"cancel", "delete"}:
            await self.actor.sleep(
                self._draw.expovariate(1 / self._draw.choice((5.0, 60.0))), f"has had enough of {name}"
            )
        else:
            await self._use(cluster)
        if desired_state == "use" or (desired_state == "cancel" and await self._cancel(cluster)):
            return
        await self._delete(cluster)
        if self._draw.random() < 0.2:
            await self._delete(cluster)

    async def _use(self, cluster: ClusterRef) -> None:
        """Wait until it is ready, or for long enough; some let it rest for a while then."""
        for _ in range(_PATIENCE):
            await self.actor.sleep(_POLL_SECONDS, "looks whether it is ready")
            if (row := await self._state(cluster.cluster_id)) and row[0] != "creating":
                break
        else:
            return
        if row[0] != "active":
            return
        self.served += 1
        owner, weather = self._owner(cluster), self._service.weather
        if self._draw.random() < weather.restarts:
            await owner.restart()
        if self._draw.random() < weather.rebuilds:
            await owner.rebuild()
        await self._work(cluster)
        changes = ((weather.resizes, owner.resize), (weather.repairs, owner.repair), (0.6, owner.suspend_for_a_while))
        for probability, change in changes:
            if self._draw.random() < probability and await change():
                await self._work(cluster)

    def _owner(self, cluster: ClusterRef) -> Owner:
        project = self._project(cluster.project_id)
        return Owner(self.actor, project, self._draw, self._service.poke, cluster.cluster_id, self.cancelled)

    async def _work(self, cluster: ClusterRef) -> None:
        """In an active cluster; some make their own partitions first."""
        row = await self._state(cluster.cluster_id)
        if row is not None and row[0] == "active":
            await self._divide(cluster, row[1])
            await self.actor.sleep(self._draw.expovariate(1 / 100.0), "works")

    async def _divide(self, cluster: ClusterRef, external_name: str) -> None:
        """Some make partitions of their own: past the service, or through it."""
        own_partitions, fate = self._service.weather.own_partitions, self._draw.random()
        if fate < own_partitions / 4:
            self._partitioner.partition(external_name, self.actor)
        elif fate < own_partitions:
            await self._owner(cluster).divide(external_name)

    async def _state(self, cluster: UUID) -> tuple[str, str] | None:
        try:
            async with self._database.read() as connection:
                row = (await connection.execute(_SHOWN, {"cluster_id": cluster})).one()
                return row.state, row.external_name
        except Problem as problem:
            self._expect(problem)
            return None

    async def _create(
        self,
        project: UUID,
        name: str,
        *,
        flavor: str | None = None,
        reservation: UUID | None = None,
        wishes: Mapping[str, object] | None = None,
    ) -> ClusterRef | None:
        flavor = flavor or self._draw.choice(LARGE if self._service.weather.crowded else FLAVORS)
        owner, options = self._project(project), dict(self._wishes()) | dict(wishes or {})
        for _ in range(_TRIES):
            if reservation is not None:
                options["reservation"] = reservation
            elif self._service.weather.crowded and wishes is None:
                options |= {"preemptible": False, "wait_for_capacity": False, "wait_until": None}
                options |= wishes_of(self._draw, instant(self.actor.scheduler.now))
            try:
                accepted = await owner.customer(self._request()).create(name, flavor, **options)
            except Problem as problem:
                if problem.kind is NAME_TAKEN:  # an earlier try succeeded and its answer was lost
                    return await self._find(project, name)
                if reservation is not None and problem.kind is CAPACITY_EXHAUSTED:
                    self._service.refused(reservation)
                late = (STATE_CONFLICT.code, VALIDATION_FAILED.code) if self._service.weather.crowded else ()
                self._expect(problem, CAPACITY_EXHAUSTED.code, QUOTA_EXCEEDED.code, *late)
                await self.actor.sleep(self._draw.uniform(1.0, 60.0), f"tries {name} again")
            else:
                self._service.poke()
                return ClusterRef(project, accepted.target_id, accepted.operation_id)
        return await self._find(project, name)

    def _wishes(self) -> Mapping[str, object]:
        """When workers may repair the cluster, if they do; histories begin at noon."""
        if "start_repairs" not in self._service.weather.tasks or self._draw.random() < 0.5:
            return {}
        if self._draw.random() < 0.2:
            return {"auto_repair": False}
        starts_at = self._draw.choice(("11:50", "12:05", "12:15", "12:25", "20:00"))
        days = list(Weekday)
        return {"repair_window": RepairWindow(days=days, starts_at=starts_at, minutes=15, time_zone="UTC")}

    async def _delete(self, cluster: ClusterRef) -> None:
        for _ in range(_TRIES):
            try:
                await self._project(cluster.project_id).customer(self._request()).delete(cluster.cluster_id)
            except Problem as problem:
                self._expect(problem, NOT_FOUND.code)
                if problem.kind is NOT_FOUND:
                    return
                await self.actor.sleep(self._draw.uniform(1.0, 10.0), "deletes again")
            else:
                self._service.poke()
                return

    async def _cancel(self, cluster: ClusterRef) -> bool:
        """False when it is too late for that."""
        try:
            done = await self._project(cluster.project_id).customer(self._request()).cancel(cluster.operation_id)
        except Problem as problem:
            self._expect(problem)
            return False
        self._service.poke()
        if done:
            self.cancelled.append(cluster.operation_id)
        return done

    async def _find(self, project: UUID, name: str) -> ClusterRef | None:
        for _ in range(_TRIES):
            try:
                async with self._database.read() as connection:
                    result = await connection.execute(_FIND, {"project_id": project, "name": name})
                    row = result.one_or_none()
                    return None if row is None else ClusterRef(project, row.cluster_id, row.operation_id)
            except Problem as problem:
                self._expect(problem)
        return None

    def _project(self, project: UUID) -> ProjectOf:
        return ProjectOf(
            project, self._database, self._service.settings, self._service.catalogue, self._service.weather.crowded
        )

    def _request(self) -> str:
        self._requests += 1
        return f"req-{self._requests}"

    def _expect(self, problem: Problem, *codes: str) -> None:
        self.actor.note(f"answered {problem.kind.code}")
        if problem.kind.code not in {*codes, UNAVAILABLE.code}:
            raise problem
