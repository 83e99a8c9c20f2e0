"""How soon after the commit that wakes it an idle worker, another process, reconciles an object."""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import time

from bench.child import Child
from bench.finding import Finding, at_most
from bench.stage import Stage
from ipucloud.db.engine import Database
from ipucloud.reconcile.wake import Notifier, wake

WAKES = 100
"""In one turn. The figure is the median of the turns' percentiles: what one moment of the machine does is left out."""
PAUSE = (0.005, 0.025)
"""Seconds between two wakes: long enough to find the worker idle."""


def run(stage: Stage) -> list[Finding]:
    with (
        stage.database("bench_wake") as urls,
        Child.python("-m", "bench.processes.looker", urls.app_url, log=stage.folder / "looker.log") as worker,
    ):
        worker.line()
        committed = asyncio.run(_wake(urls.app_url, stage.rounds))
        reconciled: dict[str, int] = json.loads(worker.last_word())
    delays = [[(reconciled[key] - instant) / 1e6 for key, instant in turn.items()] for turn in committed]
    percentiles = [statistics.quantiles(turn, n=100, method="inclusive") for turn in delays]
    return [
        Finding(
            "start after wake, p99",
            statistics.median(turn[98] for turn in percentiles),
            "ms",
            goal=at_most(10.0),
            numbers={
                "p50 ms": statistics.median(turn[49] for turn in percentiles),
                "best turn's p99": min(turn[98] for turn in percentiles),
                "worst ms": max(map(max, delays)),
            },
        )
    ]


async def _wake(url: str, turns: int) -> list[dict[str, int]]:
    """Wake one object after the other; the monotonic nanoseconds right after each commit, by turn."""
    draw = random.Random(0)  # noqa: S311  # pauses, not a secret
    database, notifier = Database(url, pool_size=1), Notifier(url)
    await notifier.start()
    committed: list[dict[str, int]] = []
    for turn in range(turns):
        committed.append({})
        for number in range(WAKES):
            key = f"object-{turn}-{number}"
            async with database.begin() as connection:
                await wake(connection, kind="bench", key=key)
            committed[-1][key] = time.monotonic_ns()
            notifier.poke()
            await asyncio.sleep(draw.uniform(*PAUSE))
    await asyncio.sleep(2.0)  # longer than a poll: whatever was missed is found by then
    await notifier.close()
    await database.close()
    return committed
