"""How soon after the commit that wakes it an idle worker, another process, looks at an object."""

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

WAKES = 600
PAUSE = (0.005, 0.025)
"""Seconds between two wakes: long enough to find the worker idle."""


def run(stage: Stage) -> list[Finding]:
    with (
        stage.database("bench_wake") as urls,
        Child.python("-m", "bench.processes.looker", urls.app, log=stage.folder / "looker.log") as worker,
    ):
        worker.line()
        committed = asyncio.run(_wake(urls.app))
        looked: dict[str, int] = json.loads(worker.last_word())
    delays = [(looked[key] - instant) / 1e6 for key, instant in committed.items()]
    percentiles = statistics.quantiles(delays, n=100, method="inclusive")
    return [
        Finding(
            "start after wake, p99",
            percentiles[98],
            "ms",
            goal=at_most(10.0),
            numbers={"p50 ms": percentiles[49], "p90 ms": percentiles[89], "worst ms": max(delays)},
        )
    ]


async def _wake(url: str) -> dict[str, int]:
    """Wake one object after the other; the monotonic nanoseconds right after each commit."""
    draw = random.Random(0)  # noqa: S311  # pauses, not a secret
    database, notifier = Database(url, pool_size=1), Notifier(url)
    await notifier.start()
    committed: dict[str, int] = {}
    for number in range(WAKES):
        key = f"object-{number}"
        async with database.begin() as connection:
            await wake(connection, kind="bench", key=key)
        committed[key] = time.monotonic_ns()
        notifier.poke()
        await asyncio.sleep(draw.uniform(*PAUSE))
    await asyncio.sleep(2.0)  # longer than a poll: whatever was missed is found by then
    await notifier.close()
    await database.close()
    return committed
