"""How soon after the commit that wakes it an idle worker, another process, reconciles an object."""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bench.child import Child
from bench.databases import opened
from bench.finding import Finding, at_most
from bench.stage import Stage
from ipucloud.reconcile.wake import Notifier, wake

PAUSE = (0.005, 0.025)
"""Seconds between two wakes: long enough to find the worker idle."""


@dataclass(frozen=True, slots=True)
class Size:
    """`wakes`: in one turn. The figure is the median of the turns' percentiles, without what happens once."""

    wakes: int = 100


SMALLEST = Size(wakes=2)


def run(stage: Stage, size: Size) -> list[Finding]:
    with (
        stage.database() as urls,
        Child.python("-m", "bench.processes.idle_worker", urls.app_url, log=stage.folder / "idle-worker.log") as worker,
    ):
        worker.line()
        committed = asyncio.run(_wake(urls.app_url, stage.rounds, size.wakes))
        reconciled: dict[str, int] = json.loads(worker.terminate_and_read())
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


async def _wake(url: str, turns: int, wakes: int) -> list[dict[str, int]]:
    """Wake one object after the other; the monotonic nanoseconds right after each commit, by turn."""
    draw = random.Random(0)  # noqa: S311  # pauses, not a secret
    committed: list[dict[str, int]] = [{} for _ in range(turns)]
    async with opened(url) as database, _notifying(url) as notifier:
        for number, turn in enumerate(committed):
            for count in range(wakes):
                key = f"object-{number}-{count}"
                async with database.begin() as connection:
                    await wake(connection, kind="bench", key=key)
                turn[key] = time.monotonic_ns()
                notifier.poke()
                await asyncio.sleep(draw.uniform(*PAUSE))
        await asyncio.sleep(2.0)  # longer than a poll: whatever was missed is found by then
    return committed


@asynccontextmanager
async def _notifying(url: str) -> AsyncIterator[Notifier]:
    notifier = Notifier(url)
    try:
        await notifier.start()
        yield notifier
    finally:
        await notifier.close()
