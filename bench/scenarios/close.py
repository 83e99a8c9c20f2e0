"""Closing an hour of many clusters, over the database's own copy of the same rows: bare, and with their primary key."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

import psycopg
import sqlalchemy as sa
from psycopg import sql

from bench.databases import opened
from bench.finding import Finding, at_least
from bench.rounds import Side, alternate
from bench.stage import Stage
from ipucloud.billing.ledger.close import close_hour
from ipucloud.billing.ledger.months import open_months
from tests.support.factories import furnish
from tests.support.postgres import Database as Scratch

PER_PROJECT = 100
HEAP, KEYED = 0.12, 0.28
HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Size:
    """`clusters`: how many, and how many turns each side takes at most."""

    clusters: Mapping[int, int] = field(default_factory=lambda: {10_000: 7, 100_000: 5, 1_000_000: 2})


SMALLEST = Size({PER_PROJECT: 1})

_FILL = (
    "ALTER TABLE usage_intervals DROP CONSTRAINT ex_usage_intervals_no_overlap",
    """
    INSERT INTO projects (id, slug, name)
    SELECT gen_random_uuid(), 'project-' || n, 'Project' FROM generate_series(1, %(projects)s) AS n
    """,
    # Clusters stand behind nothing that a close reads.
    "SET session_replication_role = replica",
    """
    WITH placed AS (SELECT id, row_number() OVER () AS n FROM projects)
    INSERT INTO usage_intervals (id, project_id, resource_id, flavor, sku, region, currency, quantity, anchor_at,
                                 started_at)
    SELECT uuidv7(), placed.id, uuidv7(), 'm2000-pod4', 'ipu-m2000', 'luxembourg-2', 'EUR', 1 + g %% 16, began,
           began
      FROM generate_series(1, %(clusters)s) AS g JOIN placed ON placed.n = 1 + g %% %(projects)s
     CROSS JOIN LATERAL (SELECT %(first)s::timestamptz - make_interval(secs => g %% 86400) AS began) AS start
    """,
    "VACUUM ANALYZE",
)
_COPIES = (
    "CREATE TABLE same AS SELECT * FROM usage_charges",
    "CREATE TABLE heap AS SELECT * FROM usage_charges WITH NO DATA",
    "CREATE TABLE keyed (LIKE heap)",
    "ALTER TABLE keyed ADD PRIMARY KEY (hour, resource_id, first_minute, rev, billing_month)",
)


def run(stage: Stage, size: Size) -> list[Finding]:
    return [finding for clusters, rounds in size.clusters.items() for finding in _measure(stage, clusters, rounds)]


def _measure(stage: Stage, clusters: int, rounds: int) -> Iterator[Finding]:
    with stage.database() as urls:
        first = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - 24 * HOUR
        asyncio.run(prepare(urls, clusters, first))
        hours = (first + number * HOUR for number in count(1))
        sides: dict[str, Side] = {
            "close": lambda: asyncio.run(_close(urls, next(hours), clusters)),
            "heap": lambda: _copy(urls, "heap", clusters),
            "keyed": lambda: _copy(urls, "keyed", clusters),
        }
        rates = alternate(sides, min(rounds, stage.rounds))
    for copy, goal in (("heap", HEAP), ("keyed", KEYED)):
        yield Finding(
            f"close of {clusters:,} cluster-hours, over a copy of its rows ({copy})",
            rates.ratio("close", copy),
            goal=at_least(goal),
            numbers=rates.numbers("close", copy),
        )


async def prepare(urls: Scratch, clusters: int, first: datetime) -> None:
    """Clusters in use since the day before `first`, the books open, one hour closed, and a copy of its rows."""
    values = {"projects": clusters // PER_PROJECT, "clusters": clusters, "first": first}
    async with opened(urls.app_url, pool_size=2) as database:
        await furnish(database, project_count=0)
        with psycopg.connect(urls.superuser_url, autocommit=True) as connection:
            for statement in _FILL:
                connection.execute(statement.encode(), values)
        await open_months(database)
        if await close_hour(database, first) != clusters:
            raise ValueError("not every cluster was charged")
    with psycopg.connect(urls.superuser_url, autocommit=True) as connection:
        for statement in _COPIES:
            connection.execute(statement.encode())


async def _close(urls: Scratch, hour: datetime, clusters: int) -> float:
    async with opened(urls.app_url, pool_size=2) as database:
        async with database.begin() as connection:  # a worker has connections already
            await connection.execute(sa.text("SELECT app_now()"))
        started = time.perf_counter()
        charges = await close_hour(database, hour)
        elapsed = time.perf_counter() - started
    if charges != clusters:
        raise ValueError(f"{charges} of {clusters} clusters were charged")
    return clusters / elapsed


def _copy(urls: Scratch, table: str, clusters: int) -> float:
    target = sql.Identifier(table)
    with psycopg.connect(urls.superuser_url, autocommit=True) as connection:
        connection.execute(sql.SQL("TRUNCATE {}").format(target))
        started = time.perf_counter()
        connection.execute(sql.SQL("INSERT INTO {} SELECT * FROM same").format(target))
        return clusters / (time.perf_counter() - started)
