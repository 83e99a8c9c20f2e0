"""Credits as they are set in a cluster's life, against a count second by second: late, again, suspended, resumed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import psycopg
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ipucloud.billing.metering.intervals import close_interval, open_interval
from ipucloud.db.engine import Database
from tests.feature.billing.books import Books, at, open_books
from tests.feature.billing.test_oracle import FORGET
from tests.feature.billing.timelines import SECOND
from tests.support.postgres import Database as Scratch

MACHINES = 4
BASE = at("2026-03-31T22:15:07")
SPAN = 3 * 3600
PRICE = Decimal("0.0625")


@dataclass(frozen=True, slots=True)
class Change:
    """At `at` seconds: so many machines are credited since `late` seconds before; None: suspended, or resumed."""

    at: int
    machines: int | None
    late: int


CHANGES = st.lists(
    st.builds(
        Change,
        at=st.integers(1, SPAN),
        machines=st.one_of(st.none(), st.integers(0, MACHINES), st.integers(0, MACHINES)),
        late=st.one_of(st.integers(0, 10), st.integers(0, SPAN)),
    ),
    max_size=10,
    unique_by=lambda change: change.at,
).map(lambda changes: sorted(changes, key=lambda change: change.at))


def counted(changes: list[Change]) -> tuple[int, int, Decimal]:
    """Minutes, credited machine-minutes and cost: what each second of the life says when a minute begins in it."""
    billed = [True] * SPAN
    credited = [0] * SPAN
    running, behind = True, 0
    for change in changes:
        if change.machines is None:
            running, behind = not running, change.at
            billed[change.at :] = [running] * (SPAN - change.at)
            credited[change.at :] = [0] * (SPAN - change.at)
        elif running and change.machines != credited[-1]:
            behind = max(behind, change.at - change.late)
            credited[behind:] = [change.machines] * (SPAN - behind)
    minutes = [second for second in range(0, SPAN, 60) if billed[second]]
    given = sum(credited[second] for second in minutes)
    return len(minutes), given, (len(minutes) * MACHINES - given) * PRICE


async def live(books: Books, changes: list[Change], closes: list[int]) -> UUID:
    """Each change in a transaction of its own at its time, and the books kept in between."""
    cluster = await books.make_cluster()
    mine = {"project_id": books.project.id, "cluster_id": cluster}
    await books.execute(
        "UPDATE clusters SET machines = :machines, ipus = 4 * :machines WHERE id = :id", machines=MACHINES, id=cluster
    )
    reports = [await books.reported(BASE - SECOND)]
    books.now(BASE)
    running = True
    async with books.database.begin() as connection:
        await open_interval(connection, project_id=books.project.id, cluster_id=cluster)
    for instant, change in sorted(
        [*((each, None) for each in closes), *((each.at, each) for each in changes)], key=lambda pair: pair[0]
    ):
        books.now(BASE + instant * SECOND)
        if change is None:
            await books.keep()
        elif change.machines is not None:
            since = BASE + (change.at - change.late) * SECOND
            await books.credit(cluster, change.machines, since, *(reports if change.machines else ()))
        else:
            running = not running
            async with books.database.begin() as connection:
                await (open_interval if running else close_interval)(connection, **mine)
    if running:
        books.now(BASE + SPAN * SECOND)
        async with books.database.begin() as connection:
            await close_interval(connection, **mine)
    await books.keep(BASE + SPAN * SECOND + timedelta(hours=2))
    return cluster


async def example(scratch: Scratch, changes: list[Change], closes: list[int]) -> None:
    database = Database(scratch.app_url, pool_size=2)
    try:
        books = await open_books(database, scratch.owner_url)
        await books.price(PRICE)
        await live(books, changes, closes)
        [posted] = await books.rows(
            "SELECT coalesce(sum(minutes), 0), coalesce(sum(minutes * credited), 0), coalesce(sum(cost), 0)"
            " FROM usage_charges"
        )
        bare = await books.rows(
            "SELECT FROM usage_intervals u WHERE (u.credited > 0)"
            " <> EXISTS (SELECT FROM usage_credits c WHERE c.interval_id = u.id)"
        )
    finally:
        await database.close()
    assert tuple(posted) == counted(changes)
    assert bare == []


@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(changes=CHANGES, closes=st.lists(st.integers(0, SPAN), max_size=2, unique=True))
def test_what_is_credited_is_what_each_second_says(database: Scratch, changes: list[Change], closes: list[int]) -> None:
    with psycopg.connect(database.superuser_url) as connection:
        for statement in FORGET:
            connection.execute(statement.encode())
        connection.execute("TRUNCATE health_reports CASCADE")
    asyncio.run(example(database, changes, closes))
