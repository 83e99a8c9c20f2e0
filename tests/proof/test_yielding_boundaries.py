"""Cancel and delete at every boundary of a preemption, and of the beginning and the end of a reservation.

Before and inside each transaction of the tasks that do this: clusters end as they were or as asked, nobody holds what
is not used, and each is billed for its own time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Literal
from uuid import UUID

import pytest

from ipucloud.clusters.reservations.store import cancel as cancel_reservation
from ipucloud.clusters.reservations.store import reserve
from ipucloud.contract.capacity import ReservationCreate
from ipucloud.inventory.health.codes import Code
from ipucloud.kernel.errors import STATE_CONFLICT, Problem
from ipucloud.operations.store import Accepted
from ipucloud.policies.preemption import follow_preemptions
from ipucloud.policies.reservations import follow_reservations
from ipucloud.policies.waiting import serve_waiting
from tests.proof.boundaries import all_right, differs, uncounted, watched_worker
from tests.proof.interrupted import Act, Moment, interrupted
from tests.proof.operators import clear_reports
from tests.support.preemptible import PREEMPTIBLE, offer_preemptible
from tests.support.reservations import offer, reservation_json
from tests.support.selection import Figures
from tests.support.site import SECURE
from tests.support.waiting import until
from tests.support.world import SiteWorld
from tests.support.world.clock import shift_clock

pytestmark = pytest.mark.anyio

SITE = {"machines": 16, "options": SECURE}
Where = tuple[int, Moment]
Phase = Literal["tell", "stop"]
"""What the task does: it tells a cluster that it has to stop, and when its time has come, it stops it."""
PREEMPTIONS: tuple[tuple[Phase, Where], ...] = (
    *((("tell"), where) for where in itertools.product((1, 2), Moment)),
    *((("stop"), (1, moment)) for moment in Moment),
)
OF_WAITER = ("cancel waiter", "delete waiter")
ENDED_BY = (*OF_WAITER, "delete preemptible")
UNUSED = "id NOT IN (SELECT machine_id FROM allocations WHERE machine_id IS NOT NULL AND freed_at IS NULL)"
_DUE = (
    "UPDATE preemptions SET noticed_at = app_now() - interval '10 minutes', preempt_at = app_now()"
    " WHERE ended_at IS NULL"
)
_UNFINISHED = "SELECT count(*) FROM operations WHERE finished_at IS NULL"
_STATE = """
SELECT c.state, (SELECT count(machine_id) FROM allocations a WHERE a.cluster_id = c.id AND a.freed_at IS NULL) AS held,
       count(u.id) AS billed, count(u.id) FILTER (WHERE u.ended_at IS NULL) AS open
  FROM clusters c LEFT JOIN usage_intervals u ON u.resource_id = c.id WHERE c.id = :id GROUP BY c.id
"""


@pytest.fixture
async def world(world: SiteWorld) -> SiteWorld:
    async with world.database.begin() as connection:
        await offer(connection)
        await offer_preemptible(connection)
    return world


async def delete_all_and_check(world: SiteWorld) -> list[str]:
    """What is held but not counted, or the other way round; then everything is deleted, and nothing may be left."""
    wrong = await uncounted(world)
    async with watched_worker(world, {}):
        await world.delete_all()
    await clear_reports(world, Code.MAINTENANCE)
    await world.assert_nothing_left()
    return wrong


class Preemption:
    """A preemptible cluster on the only machine that there is, and one that waits for it."""

    def __init__(self, world: SiteWorld, number: int) -> None:
        self.world, self.number = world, number
        self.waits: Accepted
        self.spot: UUID

    async def prepare(self, phase: Phase) -> None:
        world = self.world
        async with watched_worker(world, {}):
            self.spot = await world.build(f"spot{self.number}", preemptible=True)
        await world.impair(Code.MAINTENANCE, UNUSED)
        self.waits = await world.create(f"waits{self.number}", wait_for_capacity=True)
        await serve_waiting(world.settings, world.database)
        if phase == "stop":
            await follow_preemptions(world.settings, world.database)
            await world.execute(_DUE)

    def act(self, ended_by: str) -> Act:
        async def do() -> None:
            if ended_by == "delete preemptible":
                await self.world.delete(self.spot)
            elif ended_by == "delete waiter":
                await self.world.delete(self.waits.target_id)
            else:
                assert await self.world.cancel(self.waits)

        return do

    async def finish(self) -> None:
        """What workers do from then on, until nothing is under way."""
        world = self.world

        async def quiet() -> bool:
            await serve_waiting(world.settings, world.database)
            await follow_preemptions(world.settings, world.database)
            return bool(await world.value(_UNFINISHED) == 0)

        async with watched_worker(world, {}):
            await until(quiet, "everything has ended")

    async def actual(self) -> tuple[object, ...]:
        spot = await self.world.one(_STATE, id=self.spot)
        waits = await self.world.one(_STATE, id=self.waits.target_id)
        notices = await self.world.value("SELECT count(*) FROM preemptions WHERE ended_at IS NULL")
        skus = await self.world.column("SELECT DISTINCT sku FROM usage_intervals WHERE resource_id = :id", id=self.spot)
        assert skus == [PREEMPTIBLE]
        return (*spot, *waits, notices)


def preempted(phase: Phase, where: Where, ended_by: str) -> tuple[object, ...]:
    """How it has to end: state, machines held, usage intervals and open ones, of both; open notices."""
    gone, kept, stopped = ("deleted", 0), ("active", 1, 1, 1), ("suspended", 0, 1, 0)
    if ended_by not in OF_WAITER:
        return (*gone, 1, 0, "active", 1, 1, 1, 0)
    # Who waited has gone before the task holds the lock of the cluster that is to stop: nobody stops for nobody.
    spot = stopped if phase == "stop" and where[1] is Moment.INSIDE else kept
    return (*spot, *gone, 0, 0, 0)


@pytest.mark.sample(3)
async def test_every_boundary_of_a_preemption(world: SiteWorld, full: bool, figures: Figures) -> None:
    cases = list(itertools.product(PREEMPTIONS, ENDED_BY))
    chosen = cases if full else cases[4::5]
    wrong = []
    for number, ((phase, where), ended_by) in enumerate(chosen):
        trial = Preemption(world, number)
        await trial.prepare(phase)
        async with interrupted(world, {where: trial.act(ended_by)}) as database:
            await follow_preemptions(world.settings, database)
        await trial.finish()
        differing = differs(await trial.actual(), preempted(phase, where, ended_by))
        wrong += [f"{phase} {where}: {ended_by}: {each}" for each in differing]
        wrong += await delete_all_and_check(world)
    figures(cases=len(chosen), of=len(cases))
    all_right(wrong)


Turn = Literal["begins", "ends"]
REQUESTS = {"begins": ("cancel", "create"), "ends": ("delete", "suspend", "cancel create", "delete create")}
RESERVATIONS = [
    (turn, moment, request) for turn, requests in REQUESTS.items() for moment in Moment for request in requests
]
_BEGINS = """
UPDATE reservations SET (starts_at, ends_at, cancel_until) =
       (date_trunc('minute', app_now()) - interval '2 hours', date_trunc('minute', app_now()) + interval '2 hours',
        app_now() + interval '1 hour')
 WHERE state = 'scheduled'
"""
_ENDS = "UPDATE reservations SET ends_at = date_trunc('minute', app_now()) + interval '1 minute' WHERE state = 'active'"


class Reserved:
    """A reservation for two clusters, and what is requested when it begins or ends. `later` counts for the clock."""

    def __init__(self, world: SiteWorld, number: int, later: Iterator[int]) -> None:
        self.world, self.number, self._later = world, number, later
        self.reservation: UUID
        self.accepted: Accepted | None = None

    async def prepare(self, turn: str, request: str) -> None:
        world = self.world
        body = ReservationCreate.model_validate(reservation_json(f"may{self.number}", count=2), strict=False)
        async with world.database.begin() as connection:
            self.reservation = await reserve(
                connection, world.project.actor, body, catalogue=world.catalogue, settings=world.settings
            )
        await world.execute(_BEGINS)
        if turn == "begins":
            return
        await follow_reservations(world.database)
        self.accepted = await self.create()
        if "create" not in request:
            async with watched_worker(world, {}):
                await world.succeeded(self.accepted)
        await self.pass_its_end()

    async def pass_its_end(self) -> None:
        await self.world.execute(_ENDS)
        shift_clock(self.world.scratch.owner_url, f"{2 * next(self._later)} minutes")

    async def create(self) -> Accepted:
        return await self.world.create(f"of-may{self.number}", reservation=self.reservation)

    async def act(self, request: str) -> None:
        """A request that comes at the wrong time is refused."""
        world = self.world
        try:
            if request == "create":
                self.accepted = await self.create()
            elif request == "cancel":
                async with world.database.begin() as connection:
                    await cancel_reservation(connection, world.project.actor, self.reservation)
            elif self.accepted is not None and request == "cancel create":
                assert await world.cancel(self.accepted)
            elif self.accepted is not None:
                await (world.suspend if request == "suspend" else world.delete)(self.accepted.target_id)
        except Problem as problem:
            if problem.kind is not STATE_CONFLICT:
                raise

    async def actual(self) -> tuple[object, ...]:
        world = self.world
        async with watched_worker(world, {}):
            await until(lambda: world.value(f"SELECT ({_UNFINISHED}) = 0"), "everything has ended")
        state = "SELECT state FROM reservations WHERE id = :id"
        held = "SELECT count(machine_id) FROM allocations WHERE reservation_id = :id AND freed_at IS NULL"
        billed = (
            "SELECT count(*), count(*) FILTER (WHERE ended_at IS NULL) FROM usage_intervals WHERE resource_id = :id"
        )
        parameters: dict[str, object] = {"id": self.reservation}
        own = () if self.accepted is None else tuple(await world.one(_STATE, id=self.accepted.target_id))
        return (
            await world.value(state, id=self.reservation),
            await world.value(held, id=self.reservation),
            *await world.one(billed, parameters),
            *own,
        )

    async def end(self) -> None:
        """So that the next has the machines."""
        async with watched_worker(self.world, {}):
            await self.world.delete_all()
        await self.pass_its_end()
        await follow_reservations(self.world.database)


def reserved(moment: Moment, request: str) -> tuple[object, ...]:
    """How it has to end: of the reservation its state, machines held, usage intervals and open ones; of the cluster
    the same. One that goes after the end of its reservation is billed itself since then, whoever notices it first."""
    inside, ended = moment is Moment.INSIDE, ("ended", 0, 1, 0)
    return {
        "cancel": ("active", 2, 1, 1) if inside else ("cancelled", 0, 0, 0),
        "create": ("active", 2, 1, 1, *(("active", 1, 0, 0) if inside else ())),
        "delete": (*ended, "deleted", 0, 1, 0),
        "suspend": (*ended, "suspended", 0, 1, 0),
        "cancel create": (*ended, "deleted", 0, 0, 0),
        "delete create": (*ended, "deleted", 0, 0, 0),
    }[request]


@pytest.mark.sample(3)
async def test_every_boundary_of_a_reservation(world: SiteWorld, full: bool, figures: Figures) -> None:
    chosen = RESERVATIONS if full else RESERVATIONS[::3]
    wrong, later = [], itertools.count(1)
    for number, (turn, moment, request) in enumerate(chosen):
        trial = Reserved(world, number, later)
        await trial.prepare(turn, request)
        async with interrupted(world, {(1, moment): partial(trial.act, request)}) as database:
            await follow_reservations(database)
        differing = differs(await trial.actual(), reserved(moment, request))
        wrong += [f"{turn}, {moment}: {request}: {each}" for each in differing]
        await trial.end()
        wrong += await delete_all_and_check(world)
    figures(cases=len(chosen), of=len(RESERVATIONS))
    all_right(wrong)
