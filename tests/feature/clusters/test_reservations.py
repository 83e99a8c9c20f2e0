"""A process that is killed while it changes a reservation leaves everything as it was, and the next one does it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa

from ipucloud.catalogue.load import load
from ipucloud.clusters.operations.create import create
from ipucloud.clusters.reservations.store import cancel, reserve
from ipucloud.config import Settings
from ipucloud.contract.capacity import ReservationCreate
from ipucloud.db.engine import Database
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.ids import new_id
from ipucloud.policies.reservations import follow_reservations
from tests.feature.billing.test_killed import killed_at, using
from tests.support.postgres import Database as Scratch
from tests.support.reservations import offer
from tests.support.world import World, cluster_body

_MOVE = """
UPDATE reservations SET starts_at = date_trunc('minute', app_now()) - make_interval(hours => :hours),
       ends_at = date_trunc('minute', app_now()) + make_interval(hours => 2 - :hours)
"""
_STATE = """
SELECT coalesce((SELECT state FROM reservations), 'none'), (SELECT sum(used) FROM quotas)::integer,
       (SELECT count(*) FROM allocations WHERE freed_at IS NULL AND machine_id IS NOT NULL)::integer,
       (SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL)::integer,
       (SELECT count(*) FROM clusters)::integer
"""
Does = Callable[[Database], Awaitable[None]]


async def asks(database: Database) -> tuple[Actor, UUID | None]:
    """The project, and its reservation if it has one."""
    async with database.read() as connection:
        result = await connection.execute(
            sa.text("SELECT p.id, r.id FROM projects p LEFT JOIN reservations r ON r.project_id = p.id")
        )
        project, reservation = result.one()
    return Actor(project, new_id(), "req-1"), reservation


async def make(database: Database) -> None:
    actor, _ = await asks(database)
    async with database.begin() as connection:
        now = (await connection.execute(sa.text("SELECT date_trunc('minute', app_now())"))).scalar_one()
        body = ReservationCreate(
            name="may",
            region="luxembourg-2",
            flavor="m2000-pod16",
            count=2,
            starts_at=now + timedelta(days=3),
            ends_at=now + timedelta(days=3, hours=2),
        )
        await reserve(connection, actor, body, catalogue=load(), settings=Settings())


async def give_up(database: Database) -> None:
    actor, reservation = await asks(database)
    assert reservation is not None
    async with database.begin() as connection:
        await cancel(connection, actor, reservation)


async def use(database: Database) -> None:
    actor, reservation = await asks(database)
    body = cluster_body(flavor="m2000-pod16", reservation=reservation, ssh_keys=[])
    async with database.begin() as connection:
        await create(connection, actor, body, catalogue=load(), settings=Settings())


@pytest.mark.parametrize(
    ("point", "hours", "does", "after"),
    [
        ("reservation.machines_taken", None, make, ("scheduled", 8, 8, 0, 0)),
        ("reservation.let_go", -72, give_up, ("cancelled", 0, 0, 0, 0)),
        ("reservation.begun", 1, follow_reservations, ("active", 8, 8, 1, 0)),
        ("reservation.handed_over", 1, use, ("active", 8, 8, 1, 1)),
        ("reservation.ended", 3, follow_reservations, ("ended", 0, 0, 0, 0)),
    ],
)
def test_who_is_killed_leaves_it_as_it_was(
    database: Scratch, point: str, hours: int | None, does: Does, after: tuple[object, ...]
) -> None:
    async def state(db: Database) -> tuple[object, ...]:
        return tuple(await World(db).one(_STATE))

    async def prepare(db: Database) -> None:
        world = await World.seeded(db)
        async with db.begin() as connection:
            await offer(connection)
        if hours is None:
            return
        await make(db)
        if hours > 1:
            await world.execute(_MOVE, hours=1)
            await follow_reservations(db)
        await world.execute(_MOVE, hours=hours)
        if does is use:
            await follow_reservations(db)

    using(database, prepare)
    before = using(database, state)
    assert killed_at(database, point, 1, does)
    assert using(database, state) == before
    using(database, does)
    assert using(database, state) == after


_IN_USE = "UPDATE clusters SET state = 'degraded', state_entered_at = app_now(), ready_at = app_now()"
_FAULT = """
INSERT INTO health_reports (id, region, machine_id, source, code, allocation, credited, detail, message, first_seen_at,
                            confirmed_at, last_seen_at, cluster_id)
SELECT gen_random_uuid(), 'luxembourg-2', m.id, 'bmc', 'bmc_critical', 'prevented', true, 'x', 'A fault.',
       app_now() - interval '1 hour', app_now() - interval '1 hour', app_now(), a.cluster_id
  FROM allocations a JOIN machines m ON m.id = a.machine_id WHERE a.cluster_id IS NOT NULL ORDER BY m.name LIMIT 1
"""
_BILLED = """
SELECT count(*) FILTER (WHERE ended_at > started_at), max(credited) FILTER (WHERE ended_at IS NULL),
       (SELECT count(*) FROM usage_credits)
  FROM usage_intervals JOIN clusters ON clusters.id = resource_id
"""


async def in_use(db: Database) -> World:
    """A world with a reservation, and a cluster of it in use."""
    world = await World.seeded(db)
    async with db.begin() as connection:
        await offer(connection)
    await make(db)
    for does in (follow_reservations, use):
        await world.execute(_MOVE, hours=1)
        await does(db)
    await world.execute(_IN_USE)
    return world


@pytest.mark.anyio
async def test_a_cluster_that_is_degraded_when_its_reservation_ends_is_not_billed_for_the_fault(db: Database) -> None:
    world = await in_use(db)
    await world.execute(_FAULT)
    await world.execute(_MOVE, hours=3)
    await follow_reservations(db)
    assert tuple(await world.one(_BILLED)) == (0, 1, 1)


_UNUSED = _FAULT.replace("a.cluster_id IS NOT NULL", "a.cluster_id IS NULL")
_CREDITED = """
SELECT credited, (SELECT count(*) FROM usage_credits c WHERE c.interval_id = u.id)
  FROM usage_intervals u JOIN reservations r ON r.id = u.resource_id WHERE ended_at IS NULL
"""
_GOOD = "UPDATE health_reports SET good_since = app_now(), cleared_at = app_now()"


@pytest.mark.anyio
async def test_a_reserved_machine_that_does_not_work_is_not_billed_whether_a_cluster_has_it_or_not(
    db: Database,
) -> None:
    world = await in_use(db)
    for statement, credited in ((_FAULT, 1), (_UNUSED, 2), (_GOOD, 0)):
        await world.execute(statement)
        await follow_reservations(db)
        assert tuple(await world.one(_CREDITED)) == (credited, credited)
