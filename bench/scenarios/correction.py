"""Re-rating the hours of many clusters after a past price was corrected, over closing as many hours.

`--size hours=744` measures a whole month, which takes long, and gigabytes of disk.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from bench.databases import kept_open
from bench.finding import Finding, at_least
from bench.rounds import Side, alternate
from bench.scenarios.close import HOUR, PER_PROJECT, prepare
from bench.stage import Stage
from ipucloud.billing.ledger.close import close_hour, correct_hour
from ipucloud.billing.ledger.rerating import correct, finish_corrections, preview
from ipucloud.contract.price_corrections import PriceCorrectionBody, PriceCorrectionOrder
from ipucloud.db.engine import Database
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money

GOAL = 0.25
CURRENCY = "EUR"
ROWS = 2
"""Of a charge that is corrected: what it was, taken back, and what it should have been."""


@dataclass(frozen=True, slots=True)
class Size:
    """`hours`: more than the rounds, and the turn that is not measured."""

    clusters: int = 10_000
    hours: int = 24


SMALLEST = Size(clusters=PER_PROJECT, hours=3)


def run(stage: Stage, size: Size) -> list[Finding]:
    if stage.rounds + 1 >= size.hours:
        raise ValueError(f"--size hours: more than {stage.rounds + 1}")
    with stage.database() as urls, kept_open(urls.app_url, pool_size=2) as (runner, database):
        now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
        first = now - (size.hours + stage.rounds + 3) * HOUR
        runner.run(prepare(urls, size.clusters, first))
        return list(_measure(stage, size, runner, database, first + HOUR))


def _measure(
    stage: Stage, size: Size, runner: asyncio.Runner, database: Database, since: datetime
) -> Iterator[Finding]:
    """So many hours from `since` on are closed, their price is corrected, and they are rated again."""
    clusters, until = size.clusters, since + size.hours * HOUR
    for number in range(size.hours):
        runner.run(_counted(close_hour, database, since + number * HOUR, clusters))
    accepted = runner.run(_correct_price(database, since, until))
    corrected, closed = _hours(since), _hours(until)
    sides: dict[str, Side] = {
        "re-rated": lambda: runner.run(_counted(correct_hour, database, next(corrected), ROWS * clusters)) / ROWS,
        "closed": lambda: runner.run(_counted(close_hour, database, next(closed), clusters)),
    }
    rates = alternate(sides, stage.rounds)
    what = f"charges of {clusters:,} clusters rated again, over closing as many"
    yield Finding(
        what, rates.ratio("re-rated", "closed"), goal=at_least(GOAL), numbers=rates.numbers("re-rated", "closed")
    )
    remaining = size.hours - stage.rounds - 1
    began = time.perf_counter()
    for _ in range(remaining):
        runner.run(correct_hour(database, next(corrected)))
    seconds = (time.perf_counter() - began) * size.hours / remaining
    if not runner.run(finish_corrections(database)):
        raise ValueError("hours are left to be rated again")
    yield Finding(
        f"{size.hours} hours of {clusters:,} clusters rated again",
        seconds,
        unit="s",
        numbers={"until accepted, s": accepted},
    )


def _hours(first: datetime) -> Iterator[datetime]:
    while True:
        yield first
        first += timedelta(hours=1)


async def _counted(
    work: Callable[[Database, datetime], Awaitable[int]], database: Database, hour: datetime, expected: int
) -> float:
    """Rows a second. Raises ValueError if there are not as many as expected."""
    began = time.perf_counter()
    rows = await work(database, hour)
    elapsed = time.perf_counter() - began
    if rows != expected:
        raise ValueError(f"{rows} rows instead of {expected} for {hour}")
    return rows / elapsed


async def _correct_price(database: Database, since: datetime, until: datetime) -> float:
    """Preview a correction of every cluster's price, and order it; the seconds that both take."""
    body = PriceCorrectionBody(
        sku="ipu-m2000",
        region="luxembourg-2",
        unit_price=Money.of(Decimal("0.05"), CURRENCY),
        valid_from=since,
        valid_to=until,
        reason="entered late",
    )
    began = time.perf_counter()
    async with database.begin() as connection:
        shown = await preview(connection, body, token_id=new_id(), default=CURRENCY)
    order = PriceCorrectionOrder(**body.model_dump(), preview=shown.preview)
    async with database.begin() as connection:
        await correct(connection, order, token_id=new_id(), default=CURRENCY)
    return time.perf_counter() - began
